/// The session of a user who signed in elsewhere. It has a state and tokens, but cannot change accounts.
package protocol ReadOnlyAuthClient: AuthClient {
    /// Says why this client cannot change accounts, and who can.
    var refusal: AuthError { get }
}

extension ReadOnlyAuthClient {
    package var refusal: AuthError { AuthError(.unsupported, "This client cannot sign in or out.") }

    package func signUp(email: String, password: Secret) async throws(AuthError) -> SignUpResult { throw refusal }
    package func signIn(with credential: AuthCredential) async throws(AuthError) -> AuthUser { throw refusal }
    package func reauthenticate(with credential: AuthCredential) async throws(AuthError) { throw refusal }
    package func updateAccount(_ changes: AccountChanges) async throws(AuthError) -> AuthUser { throw refusal }
    package func reloadUser() async throws(AuthError) -> AuthUser { throw refusal }
    package func signOut(_ scope: SignOutScope, wipesLocalData: Bool) async throws(AuthError) { throw refusal }
}

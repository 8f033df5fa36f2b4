import Foundation
import Switchyard

/// Stands for a dependency that nobody set: every operation fails and says which one it was.
struct UnsetAuthClient: AuthClient {
    var provider: InfrastructureProvider { "unset" }
    var capabilities: AuthCapabilities { AuthCapabilities() }
    var state: AuthState { .unknown }
    func authStateStream() -> SnapshotStream<AuthState, Never> {
        // A state cannot fail; not knowing is what is true here.
        SnapshotStream { continuation in
            continuation.yield(.unknown)
            return {}
        }
    }
    func signUp(email: String, password: Secret) async throws(AuthError) -> AuthUser { throw .unset("signUp") }
    func signIn(with credential: AuthCredential) async throws(AuthError) -> AuthUser { throw .unset("signIn") }
    func answer(_ challenge: SecondFactorChallenge, with answer: SecondFactorAnswer) async throws(AuthError) -> AuthUser
    { throw .unset("answer") }
    func beginBrowserSignIn(with provider: IdentityProvider, redirectURL: URL, scopes: [String]) async throws(AuthError)
        -> BrowserSignIn
    { throw .unset("beginBrowserSignIn") }
    func sendPhoneCode(to phoneNumber: String) async throws(AuthError) -> PhoneVerification {
        throw .unset("sendPhoneCode")
    }
    func sendEmailLink(to email: String, redirectURL: URL) async throws(AuthError) { throw .unset("sendEmailLink") }
    func sendPasswordReset(to email: String) async throws(AuthError) { throw .unset("sendPasswordReset") }
    func resetPassword(code: Secret, newPassword: Secret) async throws(AuthError) { throw .unset("resetPassword") }
    func link(_ credential: AuthCredential) async throws(AuthError) -> AuthUser { throw .unset("link") }
    func unlink(_ provider: IdentityProvider) async throws(AuthError) -> AuthUser { throw .unset("unlink") }
    func reauthenticate(with credential: AuthCredential) async throws(AuthError) { throw .unset("reauthenticate") }
    func beginSecondFactor(_ kind: SecondFactor.Kind) async throws(AuthError) -> SecondFactorEnrollment {
        throw .unset("beginSecondFactor")
    }
    func confirmSecondFactor(_ enrollment: SecondFactorEnrollment, code: Secret, displayName: String?)
        async throws(AuthError) -> AuthUser
    { throw .unset("confirmSecondFactor") }
    func removeSecondFactor(_ id: SecondFactor.ID) async throws(AuthError) -> AuthUser {
        throw .unset("removeSecondFactor")
    }
    func updateAccount(_ changes: AccountChanges) async throws(AuthError) -> AuthUser { throw .unset("updateAccount") }
    func reloadUser() async throws(AuthError) -> AuthUser { throw .unset("reloadUser") }
    func deleteAccount() async throws(AuthError) { throw .unset("deleteAccount") }
    func signOut(_ scope: SignOutScope, wipesLocalData: Bool) async throws(AuthError) { throw .unset("signOut") }
    func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken { throw .unset("accessToken") }
}

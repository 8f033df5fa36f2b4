public import Foundation

/// The client for accounts: who is signed in, and signing in, up and out, on any provider.
///
/// ```swift
/// try await auth.signIn(email: "alice@example.com", password: Secret(entered))
/// for await state in auth.authStateStream() { route(state) }
/// ```
///
/// A network failure never signs a user out. Each call that needs a session is bound to the one it began with: if another
/// session takes its place meanwhile, the call fails with `.sessionChanged` and changes nothing.
public protocol AuthClient: Sendable {
    var provider: InfrastructureProvider { get }
    var capabilities: AuthCapabilities { get }

    /// What is known about the session now. Never waits for the network.
    var state: AuthState { get async }

    /// The state, now and after every change. A refreshed token alone is not a change.
    func authStateStream() -> SnapshotStream<AuthState, Never>

    /// All requests to wipe local data since this client was made, oldest first. Unlike the state, they remain after another
    /// user has signed in. `nil`, the default, for a client that records none; then only its state shows them.
    var wipeRequests: [WipeRequest]? { get }

    /// The session in one step, for clients that need its user and a token at once. The default takes it from ``state`` and
    /// ``wipeRequests``, and has no token.
    var session: SessionSnapshot { get async }

    /// Creates an account, and signs in to it unless the project requires the address to be confirmed first.
    ///
    /// Calling it again for an unconfirmed address sends another email; the first password stays.
    ///
    /// - Throws: `.emailInUse`, `.weakPassword`.
    @discardableResult
    func signUp(email: String, password: Secret) async throws(AuthError) -> SignUpResult

    /// Sends the email that confirms an account's address again. It also succeeds if there is nothing to confirm, so that
    /// no one can find out who has an account. For a new address of the current account, call ``changeEmail(to:)`` again.
    ///
    /// - Throws: `.notSignedIn` if the provider sends such emails only to signed-in users.
    func resendConfirmation(to email: String) async throws(AuthError)

    /// - Throws: `.invalidCredential`; `.emailNotConfirmed` until the address is confirmed; `.secondFactorRequired` with a
    ///   challenge to answer.
    @discardableResult
    func signIn(with credential: AuthCredential) async throws(AuthError) -> AuthUser

    /// Completes a sign-in that required a second factor.
    @discardableResult
    func answer(_ challenge: SecondFactorChallenge, with answer: SecondFactorAnswer) async throws(AuthError) -> AuthUser

    /// Begins a sign-in in the browser. The app opens the returned page, which carries a proof key.
    func beginBrowserSignIn(
        with provider: IdentityProvider, redirectURL: URL, scopes: [String]
    ) async throws(AuthError) -> BrowserSignIn

    func sendPhoneCode(to phoneNumber: String) async throws(AuthError) -> PhoneVerification
    /// Sends a link that signs in and leads to `redirectURL`.
    func sendEmailLink(to email: String, redirectURL: URL) async throws(AuthError)
    /// Sends an email with a code for a new password. Also succeeds for addresses without an account, so that no one can find
    /// out which have one.
    func sendPasswordReset(to email: String) async throws(AuthError)
    /// Sets a new password with the code from the email.
    func resetPassword(code: Secret, newPassword: Secret) async throws(AuthError)

    /// Adds another way to sign in to the current account.
    @discardableResult
    func link(_ credential: AuthCredential) async throws(AuthError) -> AuthUser
    @discardableResult
    func unlink(_ provider: IdentityProvider) async throws(AuthError) -> AuthUser
    /// Signs the current user in again. Needed before changes that throw `.recentSignInRequired`.
    func reauthenticate(with credential: AuthCredential) async throws(AuthError)

    func beginSecondFactor(_ kind: SecondFactor.Kind) async throws(AuthError) -> SecondFactorEnrollment
    @discardableResult
    func confirmSecondFactor(
        _ enrollment: SecondFactorEnrollment, code: Secret, displayName: String?
    ) async throws(AuthError) -> AuthUser
    @discardableResult
    func removeSecondFactor(_ id: SecondFactor.ID) async throws(AuthError) -> AuthUser

    @discardableResult
    func updateAccount(_ changes: AccountChanges) async throws(AuthError) -> AuthUser
    /// Reloads the account from the server.
    @discardableResult
    func reloadUser() async throws(AuthError) -> AuthUser
    func deleteAccount() async throws(AuthError)

    /// With `wipesLocalData`, other clients delete what they keep on this device for the user: a storage that uses this client's
    /// tokens drops its cache, and the user's writes that the server does not have yet, before its next call, even if another
    /// user has signed in by then. Writes that other users have queued stay.
    func signOut(_ scope: SignOutScope, wipesLocalData: Bool) async throws(AuthError)

    /// Returns a token that is valid for a while, and refreshes it if necessary. Concurrent callers share one refresh.
    ///
    /// - Parameter refreshing: Fetches a new token even if the current one is still valid.
    /// - Throws: `.notSignedIn`; `.sessionExpired`; `.unavailable` if a refresh is due and the server cannot be reached.
    func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken

    /// Ends all streams and stops refreshing. The session stays on the device. You may call this twice.
    func shutDown() async

    /// The client of type `Client` in this one or in what it wraps.
    func unwrapped<Client>(as type: Client.Type) -> Client?
}

extension AuthClient {
    public var wipeRequests: [WipeRequest]? { nil }
    public var session: SessionSnapshot {
        get async { SessionSnapshot(issuer: provider, state: await state, wipeRequests: wipeRequests) }
    }
    public func resendConfirmation(to email: String) async throws(AuthError) {
        throw refusal("confirming addresses by mail")
    }
    public func answer(
        _ challenge: SecondFactorChallenge, with answer: SecondFactorAnswer
    ) async throws(AuthError) -> AuthUser { throw refusal("second factors") }
    public func beginBrowserSignIn(
        with provider: IdentityProvider, redirectURL: URL, scopes: [String]
    ) async throws(AuthError) -> BrowserSignIn { throw refusal("sign-in through the browser") }
    public func sendPhoneCode(to phoneNumber: String) async throws(AuthError) -> PhoneVerification {
        throw refusal("sign-in by phone")
    }
    public func sendEmailLink(to email: String, redirectURL: URL) async throws(AuthError) {
        throw refusal("sign-in by email link")
    }
    public func sendPasswordReset(to email: String) async throws(AuthError) { throw refusal("resetting passwords") }
    public func resetPassword(code: Secret, newPassword: Secret) async throws(AuthError) {
        throw refusal("resetting passwords")
    }
    public func link(_ credential: AuthCredential) async throws(AuthError) -> AuthUser { throw refusal("linking") }
    public func unlink(_ provider: IdentityProvider) async throws(AuthError) -> AuthUser { throw refusal("linking") }
    public func beginSecondFactor(_ kind: SecondFactor.Kind) async throws(AuthError) -> SecondFactorEnrollment {
        throw refusal("second factors")
    }
    public func confirmSecondFactor(
        _ enrollment: SecondFactorEnrollment, code: Secret, displayName: String?
    ) async throws(AuthError) -> AuthUser { throw refusal("second factors") }
    public func removeSecondFactor(_ id: SecondFactor.ID) async throws(AuthError) -> AuthUser {
        throw refusal("second factors")
    }
    public func deleteAccount() async throws(AuthError) { throw refusal("deleting accounts") }
    public func shutDown() async {}
    public func unwrapped<Client>(as type: Client.Type) -> Client? { self as? Client }

    private func refusal(_ operation: String) -> AuthError {
        .unsupported(operation, by: provider, instead: "Choose another way to sign in, or another provider for auth.")
    }
}

/// The same on every provider.
extension AuthClient {
    /// The signed-in user, if there is a session that is valid as far as this client knows.
    public var currentUser: AuthUser? {
        get async { if case .signedIn(let user) = await state { user } else { nil } }
    }

    @discardableResult
    public func signIn(email: String, password: Secret) async throws(AuthError) -> AuthUser {
        try await signIn(with: .password(email: email, password))
    }
    @discardableResult
    public func signInAnonymously() async throws(AuthError) -> AuthUser { try await signIn(with: .anonymous) }

    public func changePassword(to password: Secret) async throws(AuthError) {
        try await updateAccount(AccountChanges(password: password))
    }
    /// Changes the account's address. Calling it again while the new address waits for confirmation sends another email.
    ///
    /// - Throws: `.emailInUse`, `.recentSignInRequired`.
    @discardableResult
    public func changeEmail(to email: String) async throws(AuthError) -> EmailChangeResult {
        let user = try await updateAccount(AccountChanges(email: email))
        return user.email?.lowercased() == email.lowercased() ? .changed(user) : .confirmationSent(to: email)
    }

    /// Signs out on this device.
    public func signOut() async throws(AuthError) { try await signOut(.local, wipesLocalData: false) }
    public func signOut(_ scope: SignOutScope) async throws(AuthError) {
        try await signOut(scope, wipesLocalData: false)
    }

    public func accessToken() async throws(AuthError) -> AccessToken { try await accessToken(refreshing: false) }
}

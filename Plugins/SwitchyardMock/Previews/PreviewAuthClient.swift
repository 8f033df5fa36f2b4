public import Foundation
public import Switchyard

/// An auth client on which the sample's Alice is signed in, for previews.
public struct PreviewAuthClient: AuthClient {
    private let base: MockAuthClient

    /// - Parameters:
    ///   - backend: Shared with the other preview clients of a screen.
    ///   - isSignedIn: Whether the preview shows the app with a session.
    public init(_ backend: MockBackend = .sample(), isSignedIn: Bool = true) {
        base = MockAuthClient(backend)
        guard isSignedIn else { return }
        let credential = AuthCredential.password(email: MockSample.email, MockSample.password)
        // On a backend without the sample's people nobody is signed in, and that is what the preview shows.
        if let signedIn = try? backend.accounts.signIn(credential, present: nil) { try? base.sessions.begin(signedIn) }
    }

    public var provider: InfrastructureProvider { base.provider }
    public var capabilities: AuthCapabilities { base.capabilities }
    public var state: AuthState { get async { await base.state } }
    public func authStateStream() -> SnapshotStream<AuthState, Never> { base.authStateStream() }
    @discardableResult
    public func signUp(email: String, password: Secret) async throws(AuthError) -> AuthUser {
        try await base.signUp(email: email, password: password)
    }
    @discardableResult
    public func signIn(with credential: AuthCredential) async throws(AuthError) -> AuthUser {
        try await base.signIn(with: credential)
    }
    @discardableResult
    public func answer(
        _ challenge: SecondFactorChallenge, with answer: SecondFactorAnswer
    ) async throws(AuthError) -> AuthUser { try await base.answer(challenge, with: answer) }
    public func beginBrowserSignIn(
        with provider: IdentityProvider, redirectURL: URL, scopes: [String]
    ) async throws(AuthError) -> BrowserSignIn {
        try await base.beginBrowserSignIn(with: provider, redirectURL: redirectURL, scopes: scopes)
    }
    public func sendPhoneCode(to phoneNumber: String) async throws(AuthError) -> PhoneVerification {
        try await base.sendPhoneCode(to: phoneNumber)
    }
    public func sendEmailLink(to email: String, redirectURL: URL) async throws(AuthError) {
        try await base.sendEmailLink(to: email, redirectURL: redirectURL)
    }
    public func sendPasswordReset(to email: String) async throws(AuthError) {
        try await base.sendPasswordReset(to: email)
    }
    public func resetPassword(code: Secret, newPassword: Secret) async throws(AuthError) {
        try await base.resetPassword(code: code, newPassword: newPassword)
    }
    @discardableResult
    public func link(_ credential: AuthCredential) async throws(AuthError) -> AuthUser {
        try await base.link(credential)
    }
    @discardableResult
    public func unlink(_ provider: IdentityProvider) async throws(AuthError) -> AuthUser {
        try await base.unlink(provider)
    }
    public func reauthenticate(with credential: AuthCredential) async throws(AuthError) {
        try await base.reauthenticate(with: credential)
    }
    public func beginSecondFactor(_ kind: SecondFactor.Kind) async throws(AuthError) -> SecondFactorEnrollment {
        try await base.beginSecondFactor(kind)
    }
    @discardableResult
    public func confirmSecondFactor(
        _ enrollment: SecondFactorEnrollment, code: Secret, displayName: String?
    ) async throws(AuthError) -> AuthUser {
        try await base.confirmSecondFactor(enrollment, code: code, displayName: displayName)
    }
    @discardableResult
    public func removeSecondFactor(_ id: SecondFactor.ID) async throws(AuthError) -> AuthUser {
        try await base.removeSecondFactor(id)
    }
    @discardableResult
    public func updateAccount(_ changes: AccountChanges) async throws(AuthError) -> AuthUser {
        try await base.updateAccount(changes)
    }
    @discardableResult
    public func reloadUser() async throws(AuthError) -> AuthUser { try await base.reloadUser() }
    public func deleteAccount() async throws(AuthError) { try await base.deleteAccount() }
    public func signOut(_ scope: SignOutScope, wipesLocalData: Bool) async throws(AuthError) {
        try await base.signOut(scope, wipesLocalData: wipesLocalData)
    }
    public func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken {
        try await base.accessToken(refreshing: refreshing)
    }
    public func shutDown() async { await base.shutDown() }
    public func unwrapped<Client>(as type: Client.Type) -> Client? { self as? Client ?? base.unwrapped(as: type) }
}

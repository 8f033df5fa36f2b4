public import Foundation

/// An auth client with a layer around each of its calls.
///
/// Repeated is what neither uses up a code, nor sends anything, nor makes an account. A call for the session stays with the
/// one it began with over all attempts.
public struct LayeredAuthClient: AuthClient {
    public let base: any AuthClient
    private let layer: any ClientLayer

    public init(_ base: any AuthClient, _ layer: any ClientLayer) {
        self.base = base
        self.layer = layer
    }

    public var provider: InfrastructureProvider { base.provider }
    public var capabilities: AuthCapabilities { base.capabilities }
    public var state: AuthState { get async { await base.state } }
    public var wipeRequests: [WipeRequest]? { base.wipeRequests }
    public func authStateStream() -> SnapshotStream<AuthState, Never> {
        layer.stream(about("state stream"), base.authStateStream())
    }

    public func signUp(email: String, password: Secret) async throws(AuthError) -> AuthUser {
        try await once("sign up") { () throws(AuthError) in try await base.signUp(email: email, password: password) }
    }
    public func signIn(with credential: AuthCredential) async throws(AuthError) -> AuthUser {
        try await call("sign in", credential) { () throws(AuthError) in try await base.signIn(with: credential) }
    }
    public func answer(
        _ challenge: SecondFactorChallenge, with answer: SecondFactorAnswer
    ) async throws(AuthError) -> AuthUser {
        try await once("answer challenge") { () throws(AuthError) in try await base.answer(challenge, with: answer) }
    }
    public func beginBrowserSignIn(
        with provider: IdentityProvider, redirectURL: URL, scopes: [String]
    ) async throws(AuthError) -> BrowserSignIn {
        try await layer.call(about("begin browser sign-in", isRepeatable: true)) { () throws(AuthError) in
            try await base.beginBrowserSignIn(with: provider, redirectURL: redirectURL, scopes: scopes)
        }
    }
    public func sendPhoneCode(to phoneNumber: String) async throws(AuthError) -> PhoneVerification {
        try await once("send phone code") { () throws(AuthError) in try await base.sendPhoneCode(to: phoneNumber) }
    }
    public func sendEmailLink(to email: String, redirectURL: URL) async throws(AuthError) {
        try await once("send e-mail link") { () throws(AuthError) in
            try await base.sendEmailLink(to: email, redirectURL: redirectURL)
        }
    }
    public func sendPasswordReset(to email: String) async throws(AuthError) {
        try await once("send password reset") { () throws(AuthError) in try await base.sendPasswordReset(to: email) }
    }
    public func resetPassword(code: Secret, newPassword: Secret) async throws(AuthError) {
        try await once("reset password") { () throws(AuthError) in
            try await base.resetPassword(code: code, newPassword: newPassword)
        }
    }
    public func link(_ credential: AuthCredential) async throws(AuthError) -> AuthUser {
        try await once("link") { () throws(AuthError) in try await base.link(credential) }
    }
    public func unlink(_ provider: IdentityProvider) async throws(AuthError) -> AuthUser {
        try await once("unlink") { () throws(AuthError) in try await base.unlink(provider) }
    }
    public func reauthenticate(with credential: AuthCredential) async throws(AuthError) {
        // Not repeated: what it is about is the present session, which may have changed by then.
        try await once("reauthenticate") { () throws(AuthError) in try await base.reauthenticate(with: credential) }
    }
    public func beginSecondFactor(_ kind: SecondFactor.Kind) async throws(AuthError) -> SecondFactorEnrollment {
        try await once("begin second factor") { () throws(AuthError) in try await base.beginSecondFactor(kind) }
    }
    public func confirmSecondFactor(
        _ enrollment: SecondFactorEnrollment, code: Secret, displayName: String?
    ) async throws(AuthError) -> AuthUser {
        try await once("confirm second factor") { () throws(AuthError) in
            try await base.confirmSecondFactor(enrollment, code: code, displayName: displayName)
        }
    }
    public func removeSecondFactor(_ id: SecondFactor.ID) async throws(AuthError) -> AuthUser {
        try await once("remove second factor") { () throws(AuthError) in try await base.removeSecondFactor(id) }
    }
    public func updateAccount(_ changes: AccountChanges) async throws(AuthError) -> AuthUser {
        try await once("update account") { () throws(AuthError) in try await base.updateAccount(changes) }
    }
    public func reloadUser() async throws(AuthError) -> AuthUser {
        try await bound("reload user", to: \.id) { () throws(AuthError) in try await base.reloadUser() }
    }
    public func deleteAccount() async throws(AuthError) {
        try await once("delete account") { () throws(AuthError) in try await base.deleteAccount() }
    }
    public func signOut(_ scope: SignOutScope, wipesLocalData: Bool) async throws(AuthError) {
        try await once("sign out") { () throws(AuthError) in
            try await base.signOut(scope, wipesLocalData: wipesLocalData)
        }
    }
    public func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken {
        try await bound("access token", to: \.userID) { () throws(AuthError) in
            try await base.accessToken(refreshing: refreshing)
        }
    }
    public func shutDown() async { await base.shutDown() }
    public func unwrapped<Client>(as type: Client.Type) -> Client? { self as? Client ?? base.unwrapped(as: type) }

    private func about(_ operation: String, isRepeatable: Bool = false) -> ClientCall {
        ClientCall(service: .auth, provider: base.provider, operation: operation, isRepeatable: isRepeatable)
    }
    private func once<Result>(
        _ operation: String, _ body: () async throws(AuthError) -> Result
    ) async throws(AuthError) -> Result {
        try await layer.call(about(operation)) { () throws(AuthError) in try await body() }
    }
    private func call<Result>(
        _ operation: String, _ credential: AuthCredential, _ body: () async throws(AuthError) -> Result
    ) async throws(AuthError) -> Result {
        try await layer.call(about(operation, isRepeatable: credential.isReusable)) { () throws(AuthError) in
            try await body()
        }
    }

    /// Repeats for as long as the session is the one of the beginning, and lets no answer of another one out.
    private func bound<Result>(
        _ operation: String, to user: (Result) -> AuthUser.ID, _ body: () async throws(AuthError) -> Result
    ) async throws(AuthError) -> Result {
        let owner = await base.state.user?.id
        return try await layer.call(about(operation, isRepeatable: owner != nil)) { () throws(AuthError) in
            let result = try await body()
            guard owner == nil || user(result) == owner else {
                throw AuthError(.sessionChanged, "Another session took the place of the one the call began with.")
            }
            return result
        }
    }
}

extension AuthCredential {
    /// Whether it can be shown twice: codes and links cannot, and an anonymous sign-in makes an account.
    fileprivate var isReusable: Bool {
        switch kind {
        case .password, .customToken, .identityToken: true
        case .anonymous, .browser, .phoneCode, .emailLink: false
        }
    }
}

extension AuthClient {
    /// This client, with `layer` around each of its calls.
    public func layered(_ layer: any ClientLayer) -> LayeredAuthClient { LayeredAuthClient(self, layer) }
    /// This client, with calls repeated that failed for a passing reason and are safe to repeat.
    public func retrying(_ policy: RetryPolicy = .standard) -> LayeredAuthClient { layered(RetryLayer(policy)) }
    /// This client, with `observer` told of everything it does.
    public func observed(by observer: any InfrastructureObserver) -> LayeredAuthClient {
        layered(ObserveLayer(observer))
    }
}

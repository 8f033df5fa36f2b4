public import Foundation
public import Switchyard
import SwitchyardBytes
import Synchronization

/// Accounts and sessions against the ``MockAccounts`` of a backend: every way to sign in, end to end, without a network.
///
/// The session outlasts the client in its ``MockSessionStore``. Access tokens are refreshed one at a time; a refresh
/// belongs to the session that it was begun for.
public final class MockAuthClient: AuthClient {
    public let provider: InfrastructureProvider = .mock
    public let capabilities: AuthCapabilities
    /// The test's hand on this client.
    public let controls: MockControls<AuthError>

    private let backend: MockBackend
    var server: MockAccounts { backend.accounts }
    let sessions: MockSessionBox
    private let tenant: MockTenant?
    private let report: @Sendable (InfrastructureEvent.Kind) -> Void

    /// - Parameters:
    ///   - backend: The project; a new one without accounts by default.
    ///   - network: The device's connection, shared with its other clients.
    ///   - store: Where the device keeps its session.
    ///   - capabilities: Fewer than everything, to see how an app does with a provider that has less.
    public convenience init(
        _ backend: MockBackend = MockBackend(), network: MockNetwork = MockNetwork(),
        store: MockSessionStore = MockSessionStore(), capabilities: AuthCapabilities = .all
    ) { self.init(backend, network: network, store: store, capabilities: capabilities, tenant: nil) }

    init(
        _ backend: MockBackend, network: MockNetwork, store: MockSessionStore, capabilities: AuthCapabilities = .all,
        tenant: MockTenant?, report: @escaping @Sendable (InfrastructureEvent.Kind) -> Void = { _ in }
    ) {
        self.backend = backend
        self.tenant = tenant
        self.report = report
        self.capabilities = capabilities
        controls = MockControls(
            network: network, unavailable: AuthError(.unavailable, "The mock's network is off."),
            cancelled: AuthError(.cancelled, "The call was cancelled."))
        sessions = MockSessionBox(store)
    }

    // MARK: State

    public var state: AuthState { get async { sessions.state } }

    public var wipeRequests: [WipeRequest]? { sessions.wipeRequests }

    public func authStateStream() -> SnapshotStream<AuthState, Never> {
        SnapshotStream { [sessions] continuation in sessions.listen(continuation) }
    }

    /// How many streams of states are open.
    public var listenerCount: Int { sessions.listenerCount }

    // MARK: Signing in

    @discardableResult
    public func signUp(email: String, password: Secret) async throws(AuthError) -> AuthUser {
        try await enter(.signUp) { (server) throws(AuthError) in try server.signUp(email, password) }
    }

    @discardableResult
    public func signIn(with credential: AuthCredential) async throws(AuthError) -> AuthUser {
        try check(credential)
        let present = sessions.state.user
        return try await enter(.signIn, credential.name) { (server) throws(AuthError) in
            try server.signIn(credential, present: present)
        }
    }

    @discardableResult
    public func answer(
        _ challenge: SecondFactorChallenge, with answer: SecondFactorAnswer
    ) async throws(AuthError) -> AuthUser {
        try require(\.secondFactors, "second factors")
        return try await enter(.answerChallenge) { (server) throws(AuthError) in try server.answer(challenge, answer) }
    }

    /// One way in: the script, the server, then the new session takes the place of the old.
    private func enter(
        _ operation: MockOperation<AuthUser, AuthError>, _ subject: String = "",
        _ body: (MockAccounts) throws(AuthError) -> SignedIn
    ) async throws(AuthError) -> AuthUser {
        try sessions.checkOpen()
        if let user = try await controls.enter(operation, subject, needsNetwork: true) { return user }
        if Task.isCancelled { throw AuthError(.cancelled, "The call was cancelled.") }
        let signedIn = try body(server)
        try controls.leave()
        try sessions.begin(signedIn)
        return signedIn.user
    }

    public func beginBrowserSignIn(
        with provider: IdentityProvider, redirectURL: URL, scopes: [String]
    ) async throws(AuthError) -> BrowserSignIn {
        try require(\.browserSignIn, "sign-in through the browser")
        try sessions.checkOpen()
        if let scripted = try await controls.enter(.beginBrowserSignIn, provider.rawValue) { return scripted }
        let verifier = RandomID.make(length: 64)
        let state = RandomID.make(length: 32)
        let url = try URLQuery.url(
            "https://accounts.mock.invalid/authorize",
            [
                "provider": provider.rawValue, "redirect_uri": redirectURL.absoluteString, "state": state,
                "scope": scopes.joined(separator: " "), "code_challenge": MockAccounts.digest(verifier),
                "code_challenge_method": "S256",
            ])
        return BrowserSignIn(
            identityProvider: provider, url: url, redirectURL: redirectURL, state: state, verifier: verifier)
    }

    public func sendPhoneCode(to phoneNumber: String) async throws(AuthError) -> PhoneVerification {
        try require(\.phoneCodes, "sign-in by phone")
        try sessions.checkOpen()
        if let scripted = try await controls.enter(.sendPhoneCode, needsNetwork: true) { return scripted }
        let verification = try server.sendPhoneCode(to: phoneNumber)
        try controls.leave()
        return verification
    }

    public func sendEmailLink(to email: String, redirectURL: URL) async throws(AuthError) {
        try require(\.emailLinks, "sign-in by e-mail link")
        try await tell(.sendEmailLink) { (server) throws(AuthError) in
            try server.sendEmailLink(to: email, redirectURL: redirectURL)
        }
    }

    public func sendPasswordReset(to email: String) async throws(AuthError) {
        try require(\.passwordReset, "resetting passwords")
        try await tell(.sendPasswordReset) { (server) throws(AuthError) in try server.sendPasswordReset(to: email) }
    }

    public func resetPassword(code: Secret, newPassword: Secret) async throws(AuthError) {
        try require(\.passwordReset, "resetting passwords")
        try await tell(.resetPassword) { (server) throws(AuthError) in try server.resetPassword(code, newPassword) }
    }

    private func tell(
        _ operation: MockOperation<Bool, AuthError>, _ body: (MockAccounts) throws(AuthError) -> Void
    ) async throws(AuthError) {
        try sessions.checkOpen()
        if try await controls.enter(operation, needsNetwork: true) != nil { return }
        try body(server)
        try controls.leave()
    }

    // MARK: Life

    public func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken {
        let session = try sessions.current()
        if !refreshing, let access = sessions.access(of: session), isGood(access) { return access }
        return try await session.flight.run { [self] () async throws(AuthError) in
            // Whoever refreshed last may have been quicker than this flight's start.
            if !refreshing, let access = sessions.access(of: session), isGood(access) { return access }
            let access: AccessToken
            do throws(AuthError) {
                if let scripted = try await controls.enter(.refreshToken, needsNetwork: true) {
                    access = scripted
                } else {
                    access = try server.refresh(session.refreshToken)
                }
                try controls.leave()
            } catch {
                report(.tokenRefreshed(failure: error.code.rawValue))
                throw sessions.end(session, after: error)
            }
            report(.tokenRefreshed(failure: nil))
            try sessions.keep(access, for: session)
            return access
        }
    }

    /// A token that runs out within a minute is not worth handing out.
    private func isGood(_ token: AccessToken) -> Bool {
        token.expiresAt.microseconds - server.now().microseconds > 60_000_000
    }

    public func signOut(_ scope: SignOutScope, wipesLocalData: Bool) async throws(AuthError) {
        if scope != .local { try require(\.signOutElsewhere, "signing out elsewhere") }
        try sessions.checkOpen()
        guard let session = sessions.session else { return sessions.signOut(wipesLocalData: wipesLocalData) }
        session.isLeaving.store(scope != .others, ordering: .releasing)
        defer { session.isLeaving.store(false, ordering: .releasing) }
        do throws(AuthError) {
            if try await controls.enter(.signOut, "\(scope)", needsNetwork: true) == nil {
                server.end(session.refreshToken, scope)
            }
            try controls.leave()
        } catch {
            // Leaving this device needs nobody's consent; the others can only be reached through the server.
            guard scope == .local, error.code == .unavailable else { throw error }
        }
        if scope != .others { sessions.end(session, .signedOut(SignOut(.byUser, wipesLocalData: wipesLocalData))) }
    }

    public func shutDown() async {
        sessions.shutDown()
        tenant?.leave()
    }

    // MARK: What is declared

    func require(_ capability: KeyPath<AuthCapabilities, Bool>, _ operation: String) throws(AuthError) {
        guard capabilities[keyPath: capability] else {
            throw .unsupported(
                operation, by: provider, instead: "Choose another way to sign in, or another provider for auth.")
        }
    }

    func check(_ credential: AuthCredential) throws(AuthError) {
        switch credential.kind {
        case .anonymous: try require(\.anonymous, "anonymous sign-in")
        case .password: break
        case .customToken: try require(\.customTokens, "custom tokens")
        case .identityToken: try require(\.identityTokens, "identity tokens")
        case .browser: try require(\.browserSignIn, "sign-in through the browser")
        case .phoneCode: try require(\.phoneCodes, "sign-in by phone")
        case .emailLink: try require(\.emailLinks, "sign-in by e-mail link")
        }
    }
}

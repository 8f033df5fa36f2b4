public import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import Synchronization

/// Accounts and sessions in the ``MockAccounts`` of a backend, with every way to sign in, without a network.
///
/// The session is saved in a ``MockSessionStore`` and outlives the client. Access tokens are refreshed one at a time, each for
/// the session that started the refresh. All of this is done by the session engine that every provider uses.
public final class MockAuthClient: AuthClient {
    public let provider: InfrastructureProvider = .mock
    public let capabilities: AuthCapabilities
    /// Scripts and records the calls of this client.
    public let controls: MockControls<AuthError>

    private let backend: MockBackend
    var server: MockAccounts { backend.accounts }
    let engine: SessionEngine
    private let tenant: MockBackendLease?
    private let lockChange: Once

    /// - Parameters:
    ///   - backend: The project; a new one without accounts by default.
    ///   - network: The device's connection, shared with its other clients.
    ///   - store: The device's saved session.
    ///   - capabilities: The capabilities; reduce them to test an app with a provider that has fewer.
    public convenience init(
        _ backend: MockBackend = MockBackend(), network: MockNetwork = MockNetwork(),
        store: MockSessionStore = MockSessionStore(), capabilities: AuthCapabilities = .all
    ) { self.init(backend, network: network, store: store, capabilities: capabilities, tenant: nil) }

    init(
        _ backend: MockBackend, network: MockNetwork, store: MockSessionStore, capabilities: AuthCapabilities = .all,
        tenant: MockBackendLease?, report: @escaping @Sendable (InfrastructureEvent.Kind) -> Void = { _ in }
    ) {
        self.backend = backend
        self.tenant = tenant
        self.capabilities = capabilities
        let controls = MockControls(
            network: network, unavailable: AuthError(.unavailable, "The mock's network is off."),
            cancelled: AuthError(.cancelled, "The call was cancelled."))
        let server = backend.accounts
        // A token that expires within a minute is refreshed before it is used.
        let engine = SessionEngine(
            policy: SessionMachine.Policy(early: .seconds(60), late: .seconds(60)), store: store, clock: network.clock,
            now: server.now, report: report
        ) { session in await MockAuthClient.refresh(session, server, controls) }
        self.controls = controls
        self.engine = engine
        // When the device is unlocked, listeners immediately get the state.
        lockChange = Once(
            store.onLockChange { [weak engine] in if let engine { Task { await engine.state } } })
    }

    deinit { lockChange.run() }

    private static func refresh(
        _ session: AuthSession, _ server: MockAccounts, _ controls: MockControls<AuthError>
    ) async -> RefreshAnswer {
        guard let token = session.tokens?.refresh else { return .failed(.sessionOver) }
        do throws(AuthError) {
            let access: AccessToken
            if let scripted = try await controls.enter(.refreshToken, needsNetwork: true) {
                access = scripted
            } else {
                access = try server.refresh(token.reveal())
            }
            try controls.leave()
            return .renewed(SessionTokens(refresh: token, access, issuedAt: server.now()), nil)
        } catch {
            switch error.code {
            case .sessionExpired: return .refused(.expired, error)
            case .userDisabled: return .refused(.signedOut, error)
            default: return .failed(error)
            }
        }
    }

    // MARK: State

    public var state: AuthState { get async { await engine.state } }

    public var wipeRequests: [WipeRequest]? { engine.wipeRequests }
    public var session: SessionSnapshot { get async { await engine.snapshot(of: provider) } }

    public func authStateStream() -> SnapshotStream<AuthState, Never> {
        SnapshotStream { [engine] continuation in
            // Read the store first, so that listeners do not start with an unknown state.
            let task = Task {
                _ = await engine.state
                for await state in engine.stateStream { continuation.yield(state) }
                continuation.finish()
            }
            return { task.cancel() }
        }
    }

    /// The number of open streams of states.
    public var listenerCount: Int { engine.listenerCount }

    // MARK: Signing in

    @discardableResult
    public func signUp(email: String, password: Secret) async throws(AuthError) -> SignUpResult {
        let attempt = try await engine.beginAttempt()
        if let scripted = try await controls.enter(.signUp, needsNetwork: true) { return scripted }
        if Task.isCancelled { throw AuthError(.cancelled, "The call was cancelled.") }
        let signedIn = try server.signUp(email, password)
        try controls.leave()
        guard let signedIn else { return .confirmationSent(to: email) }
        try await engine.begin(signedIn.user, tokens: signedIn.tokens, attempt: attempt)
        return .signedIn(signedIn.user)
    }

    public func resendConfirmation(to email: String) async throws(AuthError) {
        try await send(.resendConfirmation) { (server) throws(AuthError) in
            try server.resendConfirmation(to: email)
        }
    }

    @discardableResult
    public func signIn(with credential: AuthCredential) async throws(AuthError) -> AuthUser {
        try check(credential)
        let current = await engine.state.user
        return try await enter(.signIn, credential.name) { (server) throws(AuthError) in
            try server.signIn(credential, current: current)
        }
    }

    @discardableResult
    public func answer(
        _ challenge: SecondFactorChallenge, with answer: SecondFactorAnswer
    ) async throws(AuthError) -> AuthUser {
        try require(\.secondFactors, "second factors")
        return try await enter(.answerChallenge) { (server) throws(AuthError) in try server.answer(challenge, answer) }
    }

    /// Signs in: the script, then the server, then the new session replaces the old one.
    private func enter(
        _ operation: MockOperation<AuthUser, AuthError>, _ subject: String = "",
        _ body: (MockAccounts) throws(AuthError) -> SignedIn
    ) async throws(AuthError) -> AuthUser {
        let attempt = try await engine.beginAttempt()
        if let user = try await controls.enter(operation, subject, needsNetwork: true) { return user }
        if Task.isCancelled { throw AuthError(.cancelled, "The call was cancelled.") }
        let signedIn = try body(server)
        try controls.leave()
        try await engine.begin(signedIn.user, tokens: signedIn.tokens, attempt: attempt)
        return signedIn.user
    }

    public func beginBrowserSignIn(
        with provider: IdentityProvider, redirectURL: URL, scopes: [String]
    ) async throws(AuthError) -> BrowserSignIn {
        try require(\.browserSignIn, "sign-in through the browser")
        try await engine.checkOpen()
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
        try await engine.checkOpen()
        if let scripted = try await controls.enter(.sendPhoneCode, needsNetwork: true) { return scripted }
        let verification = try server.sendPhoneCode(to: phoneNumber)
        try controls.leave()
        return verification
    }

    public func sendEmailLink(to email: String, redirectURL: URL) async throws(AuthError) {
        try require(\.emailLinks, "sign-in by email link")
        try await send(.sendEmailLink) { (server) throws(AuthError) in
            try server.sendEmailLink(to: email, redirectURL: redirectURL)
        }
    }

    public func sendPasswordReset(to email: String) async throws(AuthError) {
        try require(\.passwordReset, "resetting passwords")
        try await send(.sendPasswordReset) { (server) throws(AuthError) in try server.sendPasswordReset(to: email) }
    }

    public func resetPassword(code: Secret, newPassword: Secret) async throws(AuthError) {
        try require(\.passwordReset, "resetting passwords")
        try await send(.resetPassword) { (server) throws(AuthError) in try server.resetPassword(code, newPassword) }
    }

    private func send(
        _ operation: MockOperation<Bool, AuthError>, _ body: (MockAccounts) throws(AuthError) -> Void
    ) async throws(AuthError) {
        try await engine.checkOpen()
        if try await controls.enter(operation, needsNetwork: true) != nil { return }
        try body(server)
        try controls.leave()
    }

    // MARK: Session

    public func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken {
        try await engine.accessToken(refreshing: refreshing)
    }

    public func signOut(_ scope: SignOutScope, wipesLocalData: Bool) async throws(AuthError) {
        if scope != .local { try require(\.signOutElsewhere, "signing out elsewhere") }
        try await engine.checkOpen()
        let end = SignOut(.byUser, wipesLocalData: wipesLocalData)
        guard let session = await engine.session else { return try await engine.end(end, nil) }
        var isReached = false
        var failure: AuthError?
        do throws(AuthError) {
            isReached = try await controls.enter(.signOut, "\(scope)", needsNetwork: true) == nil
            try controls.leave()
        } catch {
            // Signing out of this device needs no permission; the others can be reached only through the server.
            if scope != .local || error.code != .unavailable { failure = error }
        }
        // The device first, so that the server's answers about the ending session have no effect.
        if scope != .others, failure == nil {
            do throws(AuthError) { try await engine.end(end, session) } catch {
                // All the more reason to end the session on the server.
                guard error.code == .localStore else { throw error }
                failure = error
            }
        }
        if isReached, let token = session.tokens?.refresh { server.end(token.reveal(), scope) }
        if let failure { throw failure }
    }

    public func shutDown() async {
        await engine.shutDown()
        tenant?.leave()
    }

    // MARK: Capabilities

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
        case .emailLink: try require(\.emailLinks, "sign-in by email link")
        }
    }
}

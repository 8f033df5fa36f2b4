public import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardWire

/// Firebase Authentication over plain HTTP.
///
/// Sessions are stored in the module's state folder, which several processes may share. Signing out removes the session from
/// this device; Firebase has no call that ends the sessions of other devices. If the project has email enumeration protection,
/// a changed address takes effect when a link in an email to it is opened.
///
/// Codes by phone need proof of a genuine app, a captcha or an attestation, which a client over plain HTTP cannot provide:
/// ``sendPhoneCode(to:)`` throws. An app with such proof uses ``sendPhoneCode(to:proof:)`` and
/// ``sendSecondFactorCode(for:factor:proof:)``, available through `unwrapped(as: FirebaseAuthAdapter.self)`.
public final class FirebaseAuthAdapter: AuthClient {
    public let provider: InfrastructureProvider = .firebase
    public let capabilities: AuthCapabilities = {
        var capabilities = AuthCapabilities.all
        capabilities.phoneCodes = false
        capabilities.signOutElsewhere = false
        return capabilities
    }()

    let service: FirebaseAuthService
    let engine: SessionEngine
    let now: @Sendable () -> Timestamp
    let project: String
    /// Codes sent for second factors, by challenge and factor.
    let sentCodes = SentCodes()

    convenience init(_ context: FirebaseContext) throws(InfrastructureError) {
        let name = SHA256.digest(
            of: Array("\(context.configuration.project) \(context.endpoints.secureToken.address)".utf8))
        self.init(
            context,
            store: SessionStores.make(
                in: try context.folder("auth", isShared: true), name: "session-\(Hex.encode(name.prefix(8)))",
                context.module.localFiles))
    }

    init(_ context: FirebaseContext, store: any SessionStore) {
        let service = FirebaseAuthService(context)
        let module = context.module
        self.service = service
        now = module.now
        project = context.configuration.project
        engine = SessionEngine(store: store, clock: module.clock, now: module.now) { event in
            module.observer.observe(InfrastructureEvent(service: .auth, provider: .firebase, kind: event))
        } refresh: { session in
            await FirebaseAuthAdapter.refresh(session, service)
        }
    }

    /// Only an explicit refusal by the server ends a session. Any other failure may be the network's.
    private static func refresh(_ session: AuthSession, _ service: FirebaseAuthService) async -> RefreshAnswer {
        guard let token = session.tokens?.refresh else { return .failed(.sessionOver) }
        do throws(FirebaseAuthFailure) {
            let grant = try await service.refresh(token)
            guard grant.claims.userID == session.user.id else { throw FirebaseAuthFailure.unreadable }
            return .renewed(grant.tokens, nil)
        } catch {
            let mapped = AuthError(error, in: .account)
            return switch error.code {
            case "TOKEN_EXPIRED", "INVALID_REFRESH_TOKEN": .refused(.expired, mapped)
            case "USER_NOT_FOUND", "USER_DISABLED": .refused(.signedOut, mapped)
            default: .failed(mapped)
            }
        }
    }

    // MARK: State

    public var state: AuthState { get async { await engine.state } }
    public func authStateStream() -> SnapshotStream<AuthState, Never> { engine.stateStream }
    public var wipeRequests: [WipeRequest]? { engine.wipeRequests }
    public var session: SessionSnapshot { get async { await engine.snapshot(of: provider) } }

    public func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken {
        try await engine.accessToken(refreshing: refreshing)
    }

    public func signOut(_ scope: SignOutScope, wipesLocalData: Bool) async throws(AuthError) {
        guard scope == .local else {
            throw .unsupported(
                "signing out elsewhere", by: provider,
                instead: "Change the password, which ends all other sessions, or do it on a server.")
        }
        try await engine.end(SignOut(.byUser, wipesLocalData: wipesLocalData), engine.session)
    }

    public func shutDown() async {
        await engine.shutDown()
        await service.transport.shutDown()
    }

    // MARK: Signing in

    @discardableResult
    public func signUp(email: String, password: Secret) async throws(AuthError) -> SignUpResult {
        let attempt = try await engine.beginAttempt()
        let body: JSONObject = [
            "email": .string(email), "password": .string(password.reveal()), "returnSecureToken": true,
        ]
        let user = try await enter(attempt) { service throws(FirebaseAuthFailure) in
            try await service.post("/v1/accounts:signUp", body)
        }
        return .signedIn(user)
    }

    @discardableResult
    public func signIn(with credential: AuthCredential) async throws(AuthError) -> AuthUser {
        let attempt = try await engine.beginAttempt()
        if case .anonymous = credential.kind, case .signedIn(let user) = await engine.state, user.isAnonymous {
            // A new account would orphan the data of this one.
            return user
        }
        return try await enter(attempt, by: credential) { service throws(FirebaseAuthFailure) in
            let request = try FirebaseSignInRequest(credential, for: .signIn)
            return try await service.post(request.path, request.body)
        }
    }

    @discardableResult
    public func answer(
        _ challenge: SecondFactorChallenge, with answer: SecondFactorAnswer
    ) async throws(AuthError) -> AuthUser {
        let attempt = try await engine.beginAttempt()
        let body = try secondFactorBody(challenge, answer)
        return try await enter(attempt) { service throws(FirebaseAuthFailure) in
            try await service.post("/v2/accounts/mfaSignIn:finalize", body)
        }
    }

    /// Signs in: gets the server's answer, then the account, and only then creates the session.
    private func enter(
        _ attempt: Int, by credential: AuthCredential? = nil,
        _ call: (FirebaseAuthService) async throws(FirebaseAuthFailure) -> JSON
    ) async throws(AuthError) -> AuthUser {
        let grant: FirebaseGrant
        let user: AuthUser
        do throws(FirebaseAuthFailure) {
            grant = try FirebaseGrant(signIn: try await call(service), at: now())
            user = try await account(of: grant)
        } catch {
            throw FirebaseAuthAdapter.error(error, credential)
        }
        if Task.isCancelled { throw AuthError(.cancelled, "The call was cancelled.") }
        try await engine.begin(user, tokens: grant.tokens, attempt: attempt)
        return user
    }

    /// The account for new tokens. If the server does not return it, it is built from the tokens, which contain less.
    ///
    /// - Parameter known: A better source than the tokens.
    func account(
        of grant: FirebaseGrant, known: AuthUser? = nil
    ) async throws(FirebaseAuthFailure) -> AuthUser {
        do throws(FirebaseAuthFailure) {
            let answer = try await service.post(
                "/v1/accounts:lookup", ["idToken": .string(grant.tokens.access.reveal())])
            return AuthUser(firebase: answer, grant.claims) ?? grant.claims.user
        } catch {
            guard !error.endsSession else { throw error }
            return known ?? grant.claims.user
        }
    }

    static func error(_ failure: FirebaseAuthFailure, _ credential: AuthCredential?) -> AuthError {
        // The address is valid, but the link was sent to another one.
        if case .emailLink? = credential?.kind, failure.code == "INVALID_EMAIL" {
            return AuthError(
                .invalidCredential, "The link was sent to another address. Sign in with that address.",
                underlying: failure)
        }
        return AuthError(failure, in: .signIn)
    }

    public func beginBrowserSignIn(
        with provider: IdentityProvider, redirectURL: URL, scopes: [String]
    ) async throws(AuthError) -> BrowserSignIn {
        guard redirectURL.scheme == "https" || redirectURL.scheme == "http" else {
            throw AuthError(
                .invalidArgument, "Firebase's browser sign-in returns to an http or https URL only; pass one.")
        }
        // The server binds its answer to this random value, which never leaves this device otherwise. It is the flow's proof
        // key.
        let verifier = RandomID.make(length: 64)
        var body: JSONObject = [
            "providerId": .string(provider.rawValue), "continueUri": .string(redirectURL.absoluteString),
            "sessionId": .string(verifier), "authFlowType": "CODE_FLOW",
        ]
        if !scopes.isEmpty { body["oauthScope"] = .string(scopes.joined(separator: " ")) }
        let answer = try await call(in: .signIn) { service throws(FirebaseAuthFailure) in
            try await service.post("/v1/accounts:createAuthUri", body)
        }
        guard let text = answer["authUri"]?.string, let url = URL(string: text) else {
            throw AuthError(
                .methodDisabled,
                "The project has no browser sign-in with “\(provider)”. Switch it on in the Firebase console: "
                    + "Authentication, Sign-in method.")
        }
        return BrowserSignIn(
            identityProvider: provider, url: url, redirectURL: redirectURL,
            state: FirebaseSignInRequest.state(of: url) ?? RandomID.make(length: 32), verifier: verifier,
            session: answer["sessionId"]?.string)
    }

    /// Makes a call without a session.
    @discardableResult
    func call<Answer>(
        in kind: FirebaseAuthCall, _ body: (FirebaseAuthService) async throws(FirebaseAuthFailure) -> Answer
    ) async throws(AuthError) -> Answer {
        do throws(FirebaseAuthFailure) {
            return try await body(service)
        } catch {
            throw AuthError(error, in: kind)
        }
    }

    // MARK: Emails

    public func sendEmailLink(to email: String, redirectURL: URL) async throws(AuthError) {
        try await call(in: .signIn) { service throws(FirebaseAuthFailure) in
            try await service.post(
                "/v1/accounts:sendOobCode",
                [
                    "requestType": "EMAIL_SIGNIN", "email": .string(email),
                    "continueUrl": .string(redirectURL.absoluteString), "canHandleCodeInApp": true,
                ])
        }
    }

    public func sendPasswordReset(to email: String) async throws(AuthError) {
        try await call(in: .signIn) { service throws(FirebaseAuthFailure) in
            do throws(FirebaseAuthFailure) {
                _ = try await service.post(
                    "/v1/accounts:sendOobCode", ["requestType": "PASSWORD_RESET", "email": .string(email)])
            } catch {
                // Without email enumeration protection the server reports unknown addresses; this client hides it.
                guard error.code == "EMAIL_NOT_FOUND" else { throw error }
            }
        }
    }

    public func resetPassword(code: Secret, newPassword: Secret) async throws(AuthError) {
        try await call(in: .signIn) { service throws(FirebaseAuthFailure) in
            try await service.post(
                "/v1/accounts:resetPassword",
                ["oobCode": .string(code.reveal()), "newPassword": .string(newPassword.reveal())])
        }
    }

    public func sendPhoneCode(to phoneNumber: String) async throws(AuthError) -> PhoneVerification {
        throw .unsupported(
            "sign-in by phone", by: provider,
            instead:
                "Use sendPhoneCode(to:proof:) with a captcha's or an attestation's proof of a genuine app, or another sign-in "
                + "method."
        )
    }
}

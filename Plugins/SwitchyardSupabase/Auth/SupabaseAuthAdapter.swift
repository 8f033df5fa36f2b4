public import Foundation
public import Switchyard
import SwitchyardBytes
package import SwitchyardProviderKit
package import SwitchyardWire
import Synchronization

/// Supabase Auth over plain HTTP.
///
/// Refresh tokens rotate: each one works once, and the server ends a session if an old one is used too late. The session engine
/// stores each new token before using it, and refreshes one at a time, also among processes that share a folder.
///
/// The service has no call for users to delete their own account: pass an ``AccountDeletion`` that calls a function of the
/// project. Links in emails either return to the given address with the session in their fragment, or can be passed as they are
/// in the email.
public final class SupabaseAuthAdapter: AuthClient {
    /// Deletes the account of the token's user, with a function that the project provides.
    public typealias AccountDeletion = @Sendable (AccessToken) async throws -> Void

    public let provider: InfrastructureProvider = .supabase
    public let capabilities: AuthCapabilities

    let service: SupabaseAuthService
    let engine: SessionEngine
    private let deletion: AccountDeletion?
    private let report: @Sendable (InfrastructureEvent.Kind) -> Void
    /// The recipient of the last code for a lost password: a numeric code is valid only together with the address.
    private let resetAddress = Mutex<String?>(nil)

    /// - Parameters:
    ///   - address: The address of the auth service, such as `https://demo.supabase.co/auth/v1`.
    ///   - apiKey: The project's public key.
    package init(
        address: String, apiKey: Secret, transport: any Transport, store: any SessionStore, context: ModuleContext,
        deletion: AccountDeletion? = nil, plainHost: String? = nil
    ) {
        let service = SupabaseAuthService(
            address: address, apiKey: apiKey, transport: transport, clock: context.clock, now: context.now,
            plainHost: plainHost)
        let observer = context.observer
        let report: @Sendable (InfrastructureEvent.Kind) -> Void = { event in
            observer.observe(InfrastructureEvent(service: .auth, provider: "supabase", kind: event))
        }
        var capabilities = AuthCapabilities.all
        capabilities.customTokens = false
        capabilities.accountDeletion = deletion != nil
        self.capabilities = capabilities
        self.service = service
        self.deletion = deletion
        self.report = report
        engine = SessionEngine(
            policy: SessionMachine.Policy(early: .seconds(90), late: .seconds(30), pause: .seconds(30)), store: store,
            clock: context.clock, now: context.now, report: report
        ) { session in await SupabaseAuthAdapter.refresh(session, service) }
    }

    convenience init(_ context: SupabaseContext, deletion: AccountDeletion?) throws(InfrastructureError) {
        let address = context.project.auth
        self.init(
            address: address, apiKey: context.configuration.key, transport: context.transport,
            store: SessionStores.make(
                in: try context.folder("auth", isShared: true), name: "session-\(context.project.id)",
                context.module.localFiles),
            context: context.module, deletion: deletion, plainHost: context.project.plainHost)
    }

    // MARK: Refreshing

    /// Only an explicit refusal of this token ends a session. Any other failure may be the network's.
    private static func refresh(_ session: AuthSession, _ service: SupabaseAuthService) async -> RefreshAnswer {
        guard let token = session.tokens?.refresh else { return .failed(.sessionOver) }
        var pause = Duration.milliseconds(200)
        while true {
            do throws(SupabaseAuthFailure) {
                let grant = try await service.token("refresh_token", ["refresh_token": .string(token.reveal())])
                guard grant.user.id == session.user.id else { throw SupabaseAuthFailure.unreadable }
                return .renewed(grant.tokens, grant.user)
            } catch {
                switch error.code {
                case "refresh_token_not_found", "refresh_token_already_used", "session_not_found", "session_expired",
                    "validation_failed":
                    // The last code means a damaged token, which can never work again.
                    return .refused(.expired, error.code == "validation_failed" ? .sessionOver : AuthError(error))
                case "user_banned", "user_not_found": return .refused(.signedOut, AuthError(error))
                default: break
                }
                // Another process refreshes the same session; the server will return the same new token here.
                guard error.status == 409, pause < .seconds(1) else { return .failed(AuthError(error)) }
            }
            do { try await service.clock.sleep(for: pause) } catch { return .failed(AuthError.wrapping(error)) }
            pause *= 2
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

    public func shutDown() async {
        await engine.shutDown()
        await service.transport.shutDown()
    }

    public func signOut(_ scope: SignOutScope, wipesLocalData: Bool) async throws(AuthError) {
        let session = await engine.session
        let end = SignOut(.byUser, wipesLocalData: wipesLocalData)
        switch scope {
        case .local:
            // Signing out locally needs no permission; the server is informed if possible.
            do throws(AuthError) { try await engine.end(end, session) } catch {
                // All the more if this device cannot forget the session.
                if error.code == .localStore, let tokens = session?.tokens { await logOut(tokens) }
                throw error
            }
            if let tokens = session?.tokens { await logOut(tokens) }
        case .everywhere:
            guard let session else { return try await engine.end(end, nil) }
            if session.tokens != nil { try await logOut(.everywhere, of: session) }
            try await engine.end(end, session)
        case .others: try await logOut(.others, of: try await engine.currentSession())
        }
    }

    /// Ends the session on the server after this device has left it, if possible. The server accepts this only with a token
    /// that has not expired, so an expired one is refreshed first: nothing else will use the session's last refresh token.
    func logOut(_ tokens: SessionTokens) async {
        if service.now() < tokens.expiresAt {
            do throws(SupabaseAuthFailure) {
                return try await logOut(.local, as: tokens.access)
            } catch {
                guard error.isAboutToken else { return }
            }
        }
        guard
            let fresh = try? await service.token("refresh_token", ["refresh_token": .string(tokens.refresh.reveal())])
        else { return }
        try? await logOut(.local, as: fresh.tokens.access)
    }

    /// - Throws: If the server has not ended the sessions, and they were not over already.
    private func logOut(_ scope: SignOutScope, of session: AuthSession) async throws(AuthError) {
        var isRefused = false
        while true {
            let token = try await engine.accessToken(of: session, refreshing: isRefused).value
            do throws(SupabaseAuthFailure) {
                return try await logOut(scope, as: token)
            } catch {
                // The token may have expired by the server's clock, but not by this device's.
                guard error.isAboutToken, !isRefused else { throw AuthError(error) }
            }
            isRefused = true
        }
    }

    private func logOut(_ scope: SignOutScope, as token: Secret) async throws(SupabaseAuthFailure) {
        let name =
            switch scope {
            case .local: "local"
            case .everywhere: "global"
            case .others: "others"
            }
        do throws(SupabaseAuthFailure) {
            _ = try await service.call(.post, "/logout?scope=\(name)", as: token)
        } catch {
            // The session is over already, or its account no longer exists.
            guard let code = error.code, ["session_not_found", "session_expired", "user_not_found"].contains(code)
            else {
                throw error
            }
        }
    }

    // MARK: Signing in

    @discardableResult
    public func signUp(email: String, password: Secret) async throws(AuthError) -> SignUpResult {
        let attempt = try await engine.beginAttempt()
        let answer = try await call { service throws(SupabaseAuthFailure) in
            let answer = try await service.call(
                .post, "/signup", ["email": .string(email), "password": .string(password.reveal())])
            guard answer["access_token"] == nil else { return answer }
            // If addresses must be confirmed, the answer for an existing account is a made-up one, recognizable only by this.
            if answer["identities"]?.array?.isEmpty == true {
                throw .own(.emailInUse, "An account with this address already exists.")
            }
            guard AuthUser(supabase: answer) != nil else { throw SupabaseAuthFailure.unreadable }
            return answer
        }
        guard answer["access_token"] != nil else { return .confirmationSent(to: email) }
        return .signedIn(
            try await enter(attempt) { service throws(SupabaseAuthFailure) in
                try SupabaseGrant(session: answer, at: service.now())
            })
    }

    @discardableResult
    public func signIn(with credential: AuthCredential) async throws(AuthError) -> AuthUser {
        if case .anonymous = credential.kind, case .signedIn(let user) = await engine.state, user.isAnonymous {
            // A new account would orphan the data of this one.
            return user
        }
        let current = await engine.session?.user.id
        return try await enter(try await engine.beginAttempt()) { service throws(SupabaseAuthFailure) in
            try await SupabaseAuthAdapter.grant(credential, service, current: current)
        }
    }

    @discardableResult
    public func answer(
        _ challenge: SecondFactorChallenge, with answer: SecondFactorAnswer
    ) async throws(AuthError) -> AuthUser {
        guard challenge.factors.contains(where: { $0.id == answer.factor }) else {
            throw AuthError(.invalidArgument, "The challenge does not ask for this factor. Use one of its factors.")
        }
        return try await enter(try await engine.beginAttempt(), asksForFactors: false) {
            service throws(SupabaseAuthFailure) in
            try await service.verify(answer.factor, answer.code, as: challenge.session)
        }
    }

    /// Signs in: gets the server's answer, and only then creates the session.
    ///
    /// - Parameter asksForFactors: Whether to ask for the account's second factors, without which a session is incomplete.
    private func enter(
        _ attempt: Int, asksForFactors: Bool = true,
        _ call: (SupabaseAuthService) async throws(SupabaseAuthFailure) -> SupabaseGrant
    ) async throws(AuthError) -> AuthUser {
        let grant: SupabaseGrant
        do throws(SupabaseAuthFailure) { grant = try await call(service) } catch { throw AuthError(error) }
        if asksForFactors, !grant.openFactors.isEmpty {
            throw AuthError(
                .secondFactorRequired, "The account has a second factor. Answer the challenge.",
                challenge: SecondFactorChallenge(factors: grant.openFactors, session: grant.tokens.access))
        }
        if Task.isCancelled { throw AuthError(.cancelled, "The call was cancelled.") }
        try await engine.begin(grant.user, tokens: grant.tokens, attempt: attempt)
        return grant.user
    }

    public func beginBrowserSignIn(
        with provider: IdentityProvider, redirectURL: URL, scopes: [String]
    ) async throws(AuthError) -> BrowserSignIn {
        let verifier = RandomID.make(length: 64)
        let challenge = Base64.encode(SHA256.digest(of: Array(verifier.utf8)), alphabet: .url)
        var items = [
            (name: "provider", value: provider.supabaseName), (name: "redirect_to", value: redirectURL.absoluteString),
            (name: "code_challenge", value: challenge), (name: "code_challenge_method", value: "s256"),
        ]
        if !scopes.isEmpty { items.append((name: "scopes", value: scopes.joined(separator: " "))) }
        guard let url = URL(string: "\(service.address)/authorize?\(FormCoding.encode(items, space: .percent))") else {
            throw AuthError(.invalidArgument, "The redirect URL is not valid. Use an absolute URL.")
        }
        return BrowserSignIn(
            identityProvider: provider, url: url, redirectURL: redirectURL, state: RandomID.make(length: 32),
            verifier: verifier)
    }

    // MARK: Emails and text messages

    public func sendPhoneCode(to phoneNumber: String) async throws(AuthError) -> PhoneVerification {
        let answer = try await call { service throws(SupabaseAuthFailure) in
            try await service.call(.post, "/otp", ["phone": .string(phoneNumber), "channel": "sms"])
        }
        return PhoneVerification(phoneNumber: phoneNumber, id: answer["message_id"]?.string ?? phoneNumber)
    }

    public func sendEmailLink(to email: String, redirectURL: URL) async throws(AuthError) {
        let target = PercentCoding.encode(redirectURL.absoluteString)
        try await call { service throws(SupabaseAuthFailure) in
            try await service.call(
                .post, "/otp?redirect_to=\(target)", ["email": .string(email), "create_user": true])
        }
    }

    public func resendConfirmation(to email: String) async throws(AuthError) {
        try await engine.checkOpen()
        try await call { service throws(SupabaseAuthFailure) in
            try await service.call(.post, "/resend", ["type": "signup", "email": .string(email)])
        }
    }

    public func sendPasswordReset(to email: String) async throws(AuthError) {
        try await call { service throws(SupabaseAuthFailure) in
            try await service.call(.post, "/recover", ["email": .string(email)])
        }
        resetAddress.withLock { $0 = email }
    }

    /// - Parameters:
    ///   - code: The `token` or `token_hash` of the link in the email, or the email's numeric code if this client requested it.
    ///   - newPassword: The new password.
    public func resetPassword(code: Secret, newPassword: Secret) async throws(AuthError) {
        let text = code.reveal()
        var body: JSONObject = ["type": "recovery"]
        if text.utf8.count <= 10, text.utf8.allSatisfy({ (48...57).contains($0) }) {
            guard let email = resetAddress.withLock({ $0 }) else {
                throw AuthError(
                    .invalidCredential,
                    "The digits of a mail work only with the client that asked for the mail. Use the mail's link, or request a "
                        + "new mail.")
            }
            body["email"] = .string(email)
            body["token"] = .string(text)
        } else {
            body["token_hash"] = .string(text)
        }
        let request = body
        try await call { service throws(SupabaseAuthFailure) in
            // The code yields a session, used only to set the new password.
            let grant = try SupabaseGrant(
                session: try await service.call(.post, "/verify", request), at: service.now())
            let access = grant.tokens.access
            var refusal: SupabaseAuthFailure?
            do throws(SupabaseAuthFailure) {
                _ = try await service.call(.put, "/user", ["password": .string(newPassword.reveal())], as: access)
            } catch {
                refusal = error
            }
            // Also for a cancelled caller, since nothing else could end the session.
            await Task { _ = try? await service.call(.post, "/logout?scope=local", as: access) }.value
            if let refusal { throw refusal }
        }
    }

    /// Makes a call without a session.
    @discardableResult
    private func call<Answer>(
        _ body: (SupabaseAuthService) async throws(SupabaseAuthFailure) -> Answer
    ) async throws(AuthError) -> Answer {
        do throws(SupabaseAuthFailure) { return try await body(service) } catch { throw AuthError(error) }
    }

    // MARK: Deleting the account

    public func deleteAccount() async throws(AuthError) {
        guard let deletion else {
            throw .unsupported(
                "deleting accounts", by: provider,
                instead: "Pass a function that does it as `accountDeletion` of the module.")
        }
        let session = try await engine.currentSession()
        try await uninterrupted { [engine] () async throws(AuthError) in
            let token = try await engine.accessToken(of: session)
            do { try await deletion(token) } catch { throw AuthError.wrapping(error) }
            try await engine.end(SignOut(.accountDeleted, wipesLocalData: true), session)
        }
    }
}

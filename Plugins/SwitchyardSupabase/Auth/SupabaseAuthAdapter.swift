public import Foundation
public import Switchyard
import SwitchyardBytes
package import SwitchyardProviderKit
package import SwitchyardWire
import Synchronization

/// Supabase Auth over plain HTTP.
///
/// Refresh tokens rotate: each is good once, and the server ends a session where an old one shows up too late. The session
/// engine keeps every new one before it is used, and asks for one at a time, also among processes that share a folder.
///
/// The service has no call by which people delete their own account: hand in ``AccountDeletion`` with a function of the
/// project's own that does it. Links in mails come back to the address given, with the session in their fragment, or are
/// handed in as they stand in the mail.
public final class SupabaseAuthAdapter: AuthClient {
    /// Deletes the account of the bearer of this token, by a function that the project supplies.
    public typealias AccountDeletion = @Sendable (AccessToken) async throws -> Void

    public let provider: InfrastructureProvider = .supabase
    public let capabilities: AuthCapabilities

    let service: SupabaseAuthService
    let engine: SessionEngine
    private let deletion: AccountDeletion?
    private let report: @Sendable (InfrastructureEvent.Kind) -> Void
    /// To whom the last code for a lost password went: a code of digits counts together with the address only.
    private let resetAddress = Mutex<String?>(nil)

    /// - Parameters:
    ///   - address: Of the auth service, such as `https://demo.supabase.co/auth/v1`.
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

    convenience init(_ surroundings: SupabaseSurroundings, deletion: AccountDeletion?) throws(InfrastructureError) {
        let address = surroundings.project.auth
        self.init(
            address: address, apiKey: surroundings.configuration.key, transport: surroundings.transport,
            store: SessionStores.make(in: try surroundings.folder("auth"), name: "session-\(surroundings.project.id)"),
            context: surroundings.context, deletion: deletion, plainHost: surroundings.project.plainHost)
    }

    // MARK: Refreshing

    /// Only a clear word of the server about this token ends a session: everything else may be the network.
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
                    // The last one is a token that was damaged, and can never work again.
                    return .refused(.expired, error.code == "validation_failed" ? .sessionOver : AuthError(error))
                case "user_banned", "user_not_found": return .refused(.signedOut, AuthError(error))
                default: break
                }
                // Somebody else refreshes the same session: what they get will be given to us as well.
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
            // Leaving needs nobody's consent; the server is told as well as it can be.
            try await engine.end(end, session)
            if let tokens = session?.tokens { await logOut(tokens) }
        case .everywhere:
            guard let session else { return try await engine.end(end, nil) }
            if session.tokens != nil { try await logOut(.everywhere, of: session) }
            try await engine.end(end, session)
        case .others: try await logOut(.others, of: try await engine.present())
        }
    }

    /// Ends at the server a session that this device has left, as well as it can be done. The server takes that from a token
    /// only that has not run out, so one that has is exchanged first: nobody else will use the session's last refresh token.
    private func logOut(_ tokens: SessionTokens) async {
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

    /// - Throws: Unless the server has ended the sessions, or they were over already.
    private func logOut(_ scope: SignOutScope, of session: AuthSession) async throws(AuthError) {
        var isRefused = false
        while true {
            let token = try await engine.accessToken(of: session, refreshing: isRefused).value
            do throws(SupabaseAuthFailure) {
                return try await logOut(scope, as: token)
            } catch {
                // By the server's clock it may have run out although by this one it has not.
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
            // The session is over already, or there is nobody any more whose it could be.
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
            // Where addresses are to be confirmed, a made-up account stands for one that exists; only this gives it away.
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
            // Another account would make what belongs to this one nobody's.
            return user
        }
        return try await enter(try await engine.beginAttempt()) { service throws(SupabaseAuthFailure) in
            try await SupabaseAuthAdapter.grant(credential, service)
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

    /// One way in: the server's answer, and then all at once the session of this device.
    ///
    /// - Parameter asksForFactors: A session for which the account's factors were not asked is half a session only.
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

    // MARK: Mail and messages

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
    ///   - code: What the link in the mail has as `token` or `token_hash`, or the digits of the mail if this client sent it.
    ///   - newPassword: What the password is from now on.
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
            // The code gives a session, for nothing but the new password.
            let grant = try SupabaseGrant(
                session: try await service.call(.post, "/verify", request), at: service.now())
            let proof = grant.tokens.access
            var refusal: SupabaseAuthFailure?
            do throws(SupabaseAuthFailure) {
                _ = try await service.call(.put, "/user", ["password": .string(newPassword.reveal())], as: proof)
            } catch {
                refusal = error
            }
            _ = try? await service.call(.post, "/logout?scope=local", as: proof)
            if let refusal { throw refusal }
        }
    }

    /// A call for nobody in particular.
    @discardableResult
    private func call<Answer>(
        _ body: (SupabaseAuthService) async throws(SupabaseAuthFailure) -> Answer
    ) async throws(AuthError) -> Answer {
        do throws(SupabaseAuthFailure) { return try await body(service) } catch { throw AuthError(error) }
    }

    // MARK: The end of an account

    public func deleteAccount() async throws(AuthError) {
        guard let deletion else {
            throw .unsupported(
                "deleting accounts", by: provider,
                instead: "Supply a function of the project's own that does it, with the adapter's deletion.")
        }
        let session = try await engine.present()
        try await uninterrupted { [engine] () async throws(AuthError) in
            let token = try await engine.accessToken(of: session)
            do { try await deletion(token) } catch { throw AuthError.wrapping(error) }
            try await engine.end(SignOut(.accountDeleted, wipesLocalData: true), session)
        }
    }
}

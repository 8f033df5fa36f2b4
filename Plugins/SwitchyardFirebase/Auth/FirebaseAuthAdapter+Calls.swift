public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import Synchronization

/// Calls for the signed-in user.
extension FirebaseAuthAdapter {
    /// What the server answered to a change.
    struct Change: Sendable {
        typealias Afterwards = @Sendable (FirebaseAuthService, Secret) async throws(FirebaseAuthFailure) -> Void
        let answer: JSON
        /// What is left to do once the answer's tokens are stored.
        let afterwards: Afterwards?

        init(_ answer: JSON, afterwards: Afterwards? = nil) {
            self.answer = answer
            self.afterwards = afterwards
        }
    }

    /// Makes a call that changes the account, and may return new tokens. It continues if the caller is cancelled, since the old
    /// tokens may be invalid by then.
    func change(
        _ body: @escaping @Sendable (FirebaseAuthService, Secret) async throws(FirebaseAuthFailure) -> Change
    ) async throws(AuthError) -> AuthUser {
        try await uninterrupted { [self] () async throws(AuthError) in
            let (session, change) = try await onSession(body)
            let grant = FirebaseGrant(optional: change.answer, at: now())
            let known = session.user.updated(firebase: change.answer)
            // First of all, so that no later failure can lose the new tokens.
            if let grant { try await engine.update(session.user, tokens: grant.tokens, in: session) }
            if let afterwards = change.afterwards {
                try await engine.update(known, in: session)
                _ = try await onSession(of: session.id, afterwards)
            }
            let user: AuthUser
            do throws(FirebaseAuthFailure) {
                if let grant {
                    user = try await account(of: grant, known: known)
                } else {
                    user = try await account(of: session, known: known)
                }
            } catch {
                throw await ending(session, error)
            }
            try await engine.update(user, in: session)
            return user
        }
    }

    /// The account as stored on the server, after a change that returned no new tokens; `known` if the server does not answer.
    private func account(of session: AuthSession, known: AuthUser) async throws(FirebaseAuthFailure) -> AuthUser {
        guard let token = try? await engine.accessToken(of: session).value else { return known }
        do throws(FirebaseAuthFailure) {
            let answer = try await service.post("/v1/accounts:lookup", ["idToken": .string(token.reveal())])
            return AuthUser(firebase: answer, FirebaseIDToken(token.reveal())) ?? known
        } catch {
            guard !error.endsSession else { throw error }
            return known
        }
    }

    /// Makes a call with the token of the current session. If the server refuses the token, the call is repeated once with a
    /// new one.
    ///
    /// - Parameter id: The session that it has to be, if the caller is bound to one.
    func onSession<Answer: Sendable>(
        of id: String? = nil,
        _ body: @Sendable (FirebaseAuthService, Secret) async throws(FirebaseAuthFailure) -> Answer
    ) async throws(AuthError) -> (AuthSession, Answer) {
        let session = try await engine.currentSession(id)
        let token = try await engine.accessToken(of: session)
        do throws(FirebaseAuthFailure) {
            return (session, try await body(service, token.value))
        } catch {
            guard error.isAboutToken else { throw await ending(session, error) }
        }
        let fresh = try await engine.accessToken(of: session, refreshing: true)
        do throws(FirebaseAuthFailure) {
            return (session, try await body(service, fresh.value))
        } catch {
            throw await ending(session, error)
        }
    }

    /// The error for a refused call. Ends the session if the refusal means that it is over.
    func ending(_ session: AuthSession, _ failure: FirebaseAuthFailure) async -> AuthError {
        switch failure.code {
        case "USER_NOT_FOUND", "USER_DISABLED": try? await engine.end(SignOut(.byServer), session)
        case "TOKEN_EXPIRED", "INVALID_ID_TOKEN":
            if let present = try? await engine.currentSession(session.id) { await engine.refused(present) }
        default: break
        }
        return AuthError(failure, in: .account)
    }
}

/// Second factors: authenticator apps, and phones as far as possible without app attestation.
extension FirebaseAuthAdapter {
    public func beginSecondFactor(_ kind: SecondFactor.Kind) async throws(AuthError) -> SecondFactorEnrollment {
        guard kind == .totp else {
            throw .unsupported("second factors by phone", by: provider, instead: "Use an authenticator app.")
        }
        let (session, answer) = try await onSession { service, token throws(FirebaseAuthFailure) in
            try await service.post(
                "/v2/accounts/mfaEnrollment:start",
                ["idToken": .string(token.reveal()), "totpEnrollmentInfo": [:]])
        }
        guard let info = answer["totpSessionInfo"], let key = info["sharedSecretKey"]?.string,
            let id = info["sessionInfo"]?.string
        else { throw AuthError(FirebaseAuthFailure.unreadable, in: .account) }
        let project = PercentCoding.encode(self.project)
        let label = PercentCoding.encode(session.user.email ?? session.user.id)
        let digits = info["verificationCodeLength"]?.int ?? 6
        let period = info["periodSec"]?.int ?? 30
        return SecondFactorEnrollment(
            kind: .totp, sharedKey: Secret(key),
            uri: Secret(
                "otpauth://totp/\(project):\(label)?secret=\(key)&issuer=\(project)&algorithm=SHA1&digits=\(digits)&period=\(period)"
            ), session: Secret(id))
    }

    @discardableResult
    public func confirmSecondFactor(
        _ enrollment: SecondFactorEnrollment, code: Secret, displayName: String?
    ) async throws(AuthError) -> AuthUser {
        try await change { service, token throws(FirebaseAuthFailure) in
            var body: JSONObject = [
                "idToken": .string(token.reveal()),
                "totpVerificationInfo": [
                    "sessionInfo": .string(enrollment.session.reveal()), "verificationCode": .string(code.reveal()),
                ],
            ]
            if let displayName { body["displayName"] = .string(displayName) }
            return Change(try await service.post("/v2/accounts/mfaEnrollment:finalize", body))
        }
    }

    @discardableResult
    public func removeSecondFactor(_ id: SecondFactor.ID) async throws(AuthError) -> AuthUser {
        try await change { service, token throws(FirebaseAuthFailure) in
            Change(
                try await service.post(
                    "/v2/accounts/mfaEnrollment:withdraw",
                    ["idToken": .string(token.reveal()), "mfaEnrollmentId": .string(id)]))
        }
    }

    func secondFactorBody(
        _ challenge: SecondFactorChallenge, _ answer: SecondFactorAnswer
    ) throws(AuthError) -> JSONObject {
        guard let factor = challenge.factors.first(where: { $0.id == answer.factor }) else {
            throw AuthError(.invalidArgument, "The challenge does not ask for this factor. Use one of its factors.")
        }
        var body: JSONObject = ["mfaPendingCredential": .string(challenge.session.reveal())]
        switch factor.kind {
        case .totp:
            body["mfaEnrollmentId"] = .string(factor.id)
            body["totpVerificationInfo"] = ["verificationCode": .string(answer.code.reveal())]
        case .phone:
            guard let sent = sentCodes[challenge, factor.id] else {
                throw .unsupported(
                    "second factors by phone without an app attestation", by: provider,
                    instead: "Send the code with sendSecondFactorCode(for:factor:proof:) first, or use another factor.")
            }
            body["phoneVerificationInfo"] = ["sessionInfo": .string(sent), "code": .string(answer.code.reveal())]
        }
        return body
    }
}

/// The handles of codes sent to phones, which the portable challenge has no field for.
final class SentCodes: Sendable {
    private struct Key: Hashable {
        let session: Secret
        let factor: SecondFactor.ID
    }
    private let handles = Mutex<[Key: String]>([:])

    subscript(challenge: SecondFactorChallenge, factor: SecondFactor.ID) -> String? {
        get { handles.withLock { $0[Key(session: challenge.session, factor: factor)] } }
        set { handles.withLock { $0[Key(session: challenge.session, factor: factor)] = newValue } }
    }
}

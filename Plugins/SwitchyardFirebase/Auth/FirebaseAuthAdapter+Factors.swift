public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import Synchronization

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

public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit

/// What only Firebase has; reached by `unwrapped(as: FirebaseAuthAdapter.self)`.
extension FirebaseAuthAdapter {
    /// Proof of a genuine app, made by somebody else: Google's captcha in a web view, or the platform's attestation.
    public enum AppProof: Sendable {
        case recaptcha(Secret)
        case apple(receipt: Secret, secret: Secret)
        case playIntegrity(Secret)

        var body: JSONObject {
            switch self {
            case .recaptcha(let token): ["recaptchaToken": .string(token.reveal())]
            case .apple(let receipt, let secret):
                ["iosReceipt": .string(receipt.reveal()), "iosSecret": .string(secret.reveal())]
            case .playIntegrity(let token): ["playIntegrityToken": .string(token.reveal())]
            }
        }
    }

    /// The language of mails and messages from now on, such as `fr`; `nil` leaves it to the project.
    public func useLanguage(_ name: String?) { service.language.value = name }

    /// Sends a code for `AuthCredential.phoneCode`.
    public func sendPhoneCode(to phoneNumber: String, proof: AppProof) async throws(AuthError) -> PhoneVerification {
        var body = proof.body
        body["phoneNumber"] = .string(phoneNumber)
        let answer = try await call(in: .signIn) { service throws(FirebaseAuthFailure) in
            try await service.post("/v1/accounts:sendVerificationCode", body)
        }
        guard let id = answer["sessionInfo"]?.string else {
            throw AuthError(FirebaseAuthFailure.unreadable, in: .signIn)
        }
        return PhoneVerification(phoneNumber: phoneNumber, id: id)
    }

    /// Sends the code that answers a challenge by telephone; then ``answer(_:with:)`` takes it.
    public func sendSecondFactorCode(
        for challenge: SecondFactorChallenge, factor: SecondFactor.ID, proof: AppProof
    ) async throws(AuthError) {
        let body: JSONObject = [
            "mfaPendingCredential": .string(challenge.session.reveal()), "mfaEnrollmentId": .string(factor),
            "phoneSignInInfo": .object(proof.body),
        ]
        let answer = try await call(in: .signIn) { service throws(FirebaseAuthFailure) in
            try await service.post("/v2/accounts/mfaSignIn:start", body)
        }
        guard let handle = answer["phoneResponseInfo"]?["sessionInfo"]?.string else {
            throw AuthError(FirebaseAuthFailure.unreadable, in: .signIn)
        }
        sentCodes[challenge, factor] = handle
    }

    /// Sends a mail whose link confirms the address of the present account.
    public func sendEmailConfirmation() async throws(AuthError) {
        _ = try await onSession { service, token throws(FirebaseAuthFailure) in
            try await service.post(
                "/v1/accounts:sendOobCode", ["requestType": "VERIFY_EMAIL", "idToken": .string(token.reveal())])
        }
    }

    /// Carries out what a code of a mail stands for: confirming an address, changing it, taking a change back.
    public func apply(code: Secret) async throws(AuthError) {
        try await call(in: .signIn) { service throws(FirebaseAuthFailure) in
            try await service.post("/v1/accounts:update", ["oobCode": .string(code.reveal())])
        }
        if await engine.state.isSignedIn { _ = try? await reloadUser() }
    }

    /// Tells Apple that the app no longer needs the sign-in, as Apple asks before an account is deleted.
    public func revokeAppleAuthorization(code: Secret) async throws(AuthError) {
        _ = try await onSession { service, token throws(FirebaseAuthFailure) in
            try await service.post(
                "/v2/accounts:revokeToken",
                [
                    "providerId": "apple.com", "tokenType": "CODE", "token": .string(code.reveal()),
                    "idToken": .string(token.reveal()),
                ])
        }
    }
}

public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit

/// Features that only Firebase has, available through `unwrapped(as: FirebaseAuthAdapter.self)`.
extension FirebaseAuthAdapter {
    /// Proof of a genuine app, obtained elsewhere: with Google's captcha in a web view, or the platform's attestation.
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

    /// Sets the language of emails and text messages, such as `fr`; `nil` uses the project's.
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

    /// Sends the code for a challenge by phone; pass it to ``answer(_:with:)``.
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

    /// Sends an email with a link that confirms the address of the current account.
    public func sendEmailConfirmation() async throws(AuthError) {
        _ = try await onSession { service, token throws(FirebaseAuthFailure) in
            try await service.post(
                "/v1/accounts:sendOobCode", ["requestType": "VERIFY_EMAIL", "idToken": .string(token.reveal())])
        }
    }

    /// Performs the action of an emailed code: confirms an address, changes it, or reverts a change.
    public func apply(code: Secret) async throws(AuthError) {
        try await call(in: .signIn) { service throws(FirebaseAuthFailure) in
            try await service.post("/v1/accounts:update", ["oobCode": .string(code.reveal())])
        }
        if await engine.state.isSignedIn { _ = try? await reloadUser() }
    }

    /// Revokes the authorization at Apple, which Apple requires before an account is deleted.
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

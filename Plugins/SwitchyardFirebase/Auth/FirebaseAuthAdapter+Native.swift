public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit

/// Features that only Firebase has, available through `unwrapped(as: FirebaseAuthAdapter.self)`.
extension FirebaseAuthAdapter {
    /// A proof of a genuine app, which the app obtains: with Google's captcha in a web view, or the platform's attestation.
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

/// Reauthentication: proves again who is signed in. It never creates an account.
extension FirebaseAuthAdapter {
    public func reauthenticate(with credential: AuthCredential) async throws(AuthError) {
        let session = try await engine.currentSession()
        try await uninterrupted { [self] () async throws(AuthError) in
            try await checkIsOfAccount(credential, in: session)
            let grant = try await grant(credential, of: session.user)
            // The new tokens are the proof: they contain the time of the sign-in.
            try await engine.update(session.user, tokens: grant.tokens, in: session)
            let user: AuthUser
            do throws(FirebaseAuthFailure) {
                user = try await account(of: grant, known: session.user)
            } catch {
                throw await ending(session, error)
            }
            try await engine.update(user, in: session)
        }
    }

    private func grant(_ credential: AuthCredential, of user: AuthUser) async throws(AuthError) -> FirebaseGrant {
        do throws(FirebaseAuthFailure) {
            let request = try FirebaseSignInRequest(credential, for: .reauthenticate)
            let answer = try await service.post(request.path, request.body)
            let grant = try FirebaseGrant(signIn: answer, at: now())
            guard grant.claims.userID == user.id else {
                // A server that does not know the purpose of the call may have made an account.
                if answer["isNewUser"]?.bool == true { await service.delete(grant) }
                throw .own(.otherAccount)
            }
            return grant
        } catch {
            throw FirebaseAuthAdapter.error(error, credential)
        }
    }

    /// Refuses another account's credential before the server is asked, where the call would make an account for it. The
    /// other calls accept an option not to.
    private func checkIsOfAccount(_ credential: AuthCredential, in session: AuthSession) async throws(AuthError) {
        let isOf: @Sendable (AuthUser) -> Bool
        switch credential.kind {
        case .emailLink(let email, _): isOf = { $0.email?.lowercased() == email.lowercased() }
        case .customToken(let token): isOf = { $0.id == FirebaseIDToken.user(ofCustomToken: token) }
        case .anonymous, .password, .identityToken, .browser, .phoneCode: return
        }
        let (_, user) = try await onSession(of: session.id) { service, token throws(FirebaseAuthFailure) in
            try await service.account(token)
        }
        guard isOf(user) else { throw .otherAccount }
    }
}

extension FirebaseAuthService {
    /// Deletes the account of `grant`, which this call has just made, if possible.
    fileprivate func delete(_ grant: FirebaseGrant) async {
        _ = try? await post("/v1/accounts:delete", ["idToken": .string(grant.tokens.access.reveal())])
    }
}

extension IdentityProvider {
    /// X, formerly Twitter.
    public static let twitter: IdentityProvider = "twitter.com"
}

extension AuthCredential {
    /// A credential from X. Its token has two halves (OAuth 1.0a); neither proves anything alone.
    public static func twitter(token: Secret, secret: Secret) -> AuthCredential {
        // The portable credential's second token is otherwise unused for X.
        .identityToken(.twitter, token, accessToken: secret)
    }
}

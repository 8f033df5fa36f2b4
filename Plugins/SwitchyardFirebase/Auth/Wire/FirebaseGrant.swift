import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit

/// The tokens in an answer, with their claims.
struct FirebaseGrant: Sendable {
    let tokens: SessionTokens
    let claims: FirebaseIDToken

    /// From the answer to a sign-in. The status is 200 even if no user was signed in.
    init(signIn answer: JSON, at now: Timestamp) throws(FirebaseAuthFailure) {
        if let challenge = SecondFactorChallenge(firebase: answer) { throw .own(.secondFactor(challenge)) }
        // With credentials returned in the answer, the code is in this field.
        if let message = answer["errorMessage"]?.string {
            throw .refused(String(message.prefix { $0 != ":" && $0 != " " }))
        }
        if answer["needConfirmation"]?.bool == true { throw .refused("EMAIL_EXISTS") }
        if answer["temporaryProof"]?.string != nil { throw .refused("FEDERATED_USER_ID_ALREADY_LINKED") }
        guard let grant = FirebaseGrant(optional: answer, at: now) else { throw .unreadable }
        self = grant
    }

    /// From the answer to a call that returns new tokens only if the old ones became invalid.
    init?(optional answer: JSON, at now: Timestamp) {
        self.init(
            access: answer["idToken"]?.string, refresh: answer["refreshToken"]?.string, answer["expiresIn"], at: now)
    }

    init(refreshed answer: JSON, at now: Timestamp) throws(FirebaseAuthFailure) {
        guard
            let grant = FirebaseGrant(
                access: answer["id_token"]?.string ?? answer["access_token"]?.string,
                refresh: answer["refresh_token"]?.string, answer["expires_in"], at: now)
        else { throw .unreadable }
        self = grant
    }

    /// Numbers are strings here. Answers about second factors have no lifetime; it is taken from the token.
    private init?(access: String?, refresh: String?, _ seconds: JSON?, at now: Timestamp) {
        guard let access, let refresh, !refresh.isEmpty, let claims = FirebaseIDToken(access) else { return nil }
        let stated = (seconds?.int64 ?? seconds?.string.flatMap { Int64($0) }).map { Duration.seconds($0) }
        guard let lifetime = stated ?? claims.lifetime else { return nil }
        self.claims = claims
        tokens = SessionTokens(refresh: Secret(refresh), access: Secret(access), issuedAt: now, lifetime: lifetime)
    }
}

extension SecondFactorChallenge {
    /// `nil` unless the answer asks for a second factor instead of signing in.
    init?(firebase answer: JSON) {
        guard let pending = answer["mfaPendingCredential"]?.string, answer["idToken"] == nil else { return nil }
        self.init(factors: SecondFactor.list(firebase: answer["mfaInfo"]), session: Secret(pending))
    }
}

extension SecondFactor {
    static func list(firebase json: JSON?) -> [SecondFactor] {
        (json?.array ?? []).compactMap { info in
            guard let id = info["mfaEnrollmentId"]?.string else { return nil }
            return SecondFactor(
                id: id, kind: info["phoneInfo"] == nil ? .totp : .phone, displayName: info["displayName"]?.string)
        }
    }
}

extension AuthUser {
    /// The account in the answer to `accounts:lookup`; `nil` if there is none.
    ///
    /// - Parameter claims: The claims of the token used: only they show that an account is anonymous.
    init?(firebase answer: JSON, _ claims: FirebaseIDToken?) {
        guard let user = answer["users"]?[0], let id = user["localId"]?.string else { return nil }
        let hasPassword = user["passwordHash"]?.string?.isEmpty == false
        let providers = (user["providerUserInfo"]?.array ?? []).compactMap { $0["providerId"]?.string }
        var identities = providers.map(IdentityProvider.init(rawValue:))
        if user["emailLinkSignin"]?.bool == true {
            // The server calls both sign-in methods with an address “password”.
            if !hasPassword { identities.removeAll { $0 == .password } }
            identities.append(.emailLink)
        }
        let isAnonymous = claims?.signInProvider == "anonymous" && identities.isEmpty && !hasPassword
        self.init(
            id: id, email: user["email"]?.string, isEmailVerified: user["emailVerified"]?.bool ?? false,
            phoneNumber: user["phoneNumber"]?.string, displayName: user["displayName"]?.string,
            photoURL: user["photoUrl"]?.string.flatMap { URL(string: $0) }, isAnonymous: isAnonymous,
            identities: identities, secondFactors: SecondFactor.list(firebase: user["mfaInfo"]),
            createdAt: AuthUser.date(user["createdAt"]), lastSignInAt: AuthUser.date(user["lastLoginAt"]))
    }

    /// This account, updated from the answer to a change.
    func updated(firebase answer: JSON) -> AuthUser {
        var user = self
        if let email = answer["email"]?.string { user.email = email }
        if let isVerified = answer["emailVerified"]?.bool { user.isEmailVerified = isVerified }
        if let name = answer["displayName"]?.string { user.displayName = name }
        if let photo = answer["photoUrl"]?.string { user.photoURL = URL(string: photo) }
        return user
    }

    /// Milliseconds since 1970, as text.
    private static func date(_ json: JSON?) -> Date? {
        (json?.int64 ?? json?.string.flatMap { Int64($0) }).map { Date(timeIntervalSince1970: Double($0) / 1000) }
    }
}

extension AuthError {
    static func secondFactor(_ challenge: SecondFactorChallenge) -> AuthError {
        AuthError(
            .secondFactorRequired, "The account has a second factor. Answer the challenge.", challenge: challenge)
    }
}

/// The claims of an ID token. Verifying its signature is left to servers.
struct FirebaseIDToken: Sendable {
    let claims: JSONObject

    /// `nil` for text that is no token.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.decode(parts[1], alphabet: .url),
            let claims = (try? JSON(parsing: bytes))?.object, let id = claims["sub"]?.string, !id.isEmpty
        else { return nil }
        self.claims = claims
    }

    /// Whom a custom token signs in. A local server also accepts its claims alone.
    static func user(ofCustomToken token: Secret) -> String? {
        let text = token.reveal()
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = parts.count == 3 ? Base64.decode(parts[1], alphabet: .url) : Array(text.utf8)
        return bytes.flatMap { try? JSON(parsing: $0) }?["uid"]?.string
    }

    var userID: String { claims["sub"]?.string ?? "" }
    /// The project that issued it.
    var project: String? { claims["aud"]?.string }

    /// Its lifetime, measured by the server's clock only, which may be wrong.
    var lifetime: Duration? {
        guard let issued = claims["iat"]?.int64, let end = claims["exp"]?.int64, end > issued else { return nil }
        let (seconds, isTooLong) = end.subtractingReportingOverflow(issued)
        return isTooLong ? nil : .seconds(seconds)
    }

    var signInProvider: String? { claims["firebase"]?["sign_in_provider"]?.string }

    /// The account, as far as the token describes it.
    var user: AuthUser {
        let identities = claims["firebase"]?["identities"]?.object?.keys ?? []
        var providers = identities.filter { $0 != "email" }.map(IdentityProvider.init(rawValue:))
        if signInProvider == "password" { providers.insert(.password, at: 0) }
        return AuthUser(
            id: userID, email: claims["email"]?.string, isEmailVerified: claims["email_verified"]?.bool ?? false,
            phoneNumber: claims["phone_number"]?.string, displayName: claims["name"]?.string,
            photoURL: claims["picture"]?.string.flatMap { URL(string: $0) },
            isAnonymous: signInProvider == "anonymous" && claims["email"] == nil, identities: providers)
    }
}

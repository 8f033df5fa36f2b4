import SwitchyardBytes
import SwitchyardServerKit

/// An identity provider's statement about a user, as written by a test.
struct IdentityAssertion: Codable, Sendable {
    let provider: String
    let rawID: String
    var email: String?
    var isEmailVerified = false
    var displayName: String?
    var photoURL: String?
    var screenName: String?
    var firstName: String?
    var lastName: String?
    /// The claims as received.
    var claims = ""
    var idToken: String?
    var accessToken: String?

    /// From the form in `postBody`, or in the address to which a browser returned.
    ///
    /// Signatures are not checked, since tests cannot use the keys of identity providers; a nonce is.
    ///
    /// - Parameter address: The browser's address, for error messages.
    init(_ form: [(name: String, value: String)], at address: String) throws(AuthFailure) {
        func item(_ name: String) -> String? { form.first { $0.name == name && !$0.value.isEmpty }?.value }
        guard let provider = item("providerId")?.lowercased(), !provider.isEmpty else {
            throw AuthFailure(
                "INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential: \(address)")
        }
        self.provider = provider
        idToken = item("id_token")
        accessToken = item("access_token")
        guard let text = idToken ?? accessToken else {
            throw .notImplemented("The Auth Emulator only supports sign-in with credentials (id_token required).")
        }
        if idToken == nil, ["google.com", "apple.com"].contains(provider) {
            throw .notImplemented(
                "The Auth Emulator only support sign-in with \(provider) using id_token, not access_token. Please update your code to use id_token."
            )
        }
        guard let content = TestToken.claims(text) else {
            // Real provider tokens cannot be read here.
            guard idToken != nil else {
                throw .notImplemented("The Auth Emulator does not support \(provider) sign-in with credentials.")
            }
            throw AuthFailure(
                "INVALID_IDP_RESPONSE : Unable to parse id_token: \(text) "
                    + (text.first == "{"
                        ? "((Auth Emulator failed to parse fake id_token as strict JSON.))"
                        : "((Auth Emulator only accepts strict JSON or JWTs as fake id_tokens.))"))
        }
        guard let sub = content["sub"] else {
            throw AuthFailure(
                "INVALID_IDP_RESPONSE : Invalid Idp Response: id_token missing required fields. ((Missing \"sub\" field. "
                    + "This field is required and must be a unique identifier.))")
        }
        guard let subject = sub.string, !subject.isEmpty else {
            throw AuthFailure("INVALID_IDP_RESPONSE : ((The \"sub\" field must be a string.))")
        }
        if let expected = content["nonce"]?.string {
            let given = item("nonce").map { Hex.encode(SHA256.digest(of: Array($0.utf8))) }
            guard given == expected else {
                throw AuthFailure("MISSING_OR_INVALID_NONCE : Nonce is missing or does not fit the token.")
            }
        }
        rawID = subject
        email = try content["email"]?.string.map { text throws(AuthFailure) in try AccountDatabase.email(text) }
        isEmailVerified = content["email_verified"]?.bool ?? false
        displayName = content["name"]?.string
        photoURL = content["picture"]?.string
        screenName = content["screen_name"]?.string
        firstName = content["given_name"]?.string
        lastName = content["family_name"]?.string
        claims = JSON.object(content).text()
    }

    var link: LocalAccount.ProviderLink {
        LocalAccount.ProviderLink(
            provider: provider, rawID: rawID, email: email, displayName: displayName, photoURL: photoURL,
            screenName: screenName)
    }

    /// The provider's own data about the user, unchanged.
    private var rawUserInfo: String {
        guard provider == "google.com" else { return claims }
        let profile = "openid https://www.googleapis.com/auth/userinfo.profile"
        var info: JSONObject = [
            "granted_scopes": .string(
                email == nil ? profile : profile + " https://www.googleapis.com/auth/userinfo.email"),
            "id": .string(rawID),
        ]
        info["name"] = displayName.map { .string($0) }
        info["given_name"] = firstName.map { .string($0) }
        info["family_name"] = lastName.map { .string($0) }
        info["verified_email"] = .bool(isEmailVerified)
        info["locale"] = "en"
        info["email"] = email.map { .string($0) }
        info["picture"] = photoURL.map { .string($0) }
        return JSON.object(info).text()
    }

    /// The common part of every answer about it.
    var answer: JSONObject {
        var answer: JSONObject = [
            "kind": "identitytoolkit#VerifyAssertionResponse", "context": "", "providerId": .string(provider),
            "federatedId": .string(link.federatedID), "rawUserInfo": .string(rawUserInfo),
        ]
        if let email {
            answer["email"] = .string(email)
            answer["emailVerified"] = .bool(isEmailVerified)
        }
        answer["displayName"] = displayName.map { .string($0) }
        answer["fullName"] = displayName.map { .string($0) }
        answer["firstName"] = firstName.map { .string($0) }
        answer["lastName"] = lastName.map { .string($0) }
        answer["photoUrl"] = photoURL.map { .string($0) }
        answer["screenName"] = screenName.map { .string($0) }
        answer["oauthIdToken"] = idToken.map { .string($0) }
        answer["oauthAccessToken"] = .string(accessToken ?? "FirebaseAuthEmulatorFakeAccessToken_\(provider)")
        return answer
    }
}

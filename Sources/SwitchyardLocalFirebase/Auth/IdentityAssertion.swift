import SwitchyardBytes
import SwitchyardServerKit

/// What an identity provider says about somebody, as a test has written it.
struct IdentityAssertion: Codable, Sendable {
    let provider: String
    let rawID: String
    var email: String?
    var isEmailVerified = false
    var displayName: String?
    var photoURL: String?
    var screenName: String?
    /// The claims as they came, for `rawUserInfo`.
    var claims = ""
    var idToken: String?
    var accessToken: String?

    /// From the form in `postBody`, or in the address to which a browser came back.
    ///
    /// Signatures are not checked, since the keys of identity providers are of no use for tests; a nonce is.
    init(_ form: [(name: String, value: String)]) throws(AuthFailure) {
        func item(_ name: String) -> String? { form.first { $0.name == name && !$0.value.isEmpty }?.value }
        guard let provider = item("providerId") else {
            throw AuthFailure(
                "INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential: \(form.map(\.name).joined(separator: ", "))"
            )
        }
        self.provider = provider
        idToken = item("id_token")
        accessToken = item("access_token")
        guard let text = idToken ?? accessToken else {
            throw AuthFailure("INVALID_CREDENTIAL_OR_PROVIDER_ID : There is no token of \(provider).")
        }
        if idToken == nil, ["google.com", "apple.com"].contains(provider) {
            throw .notImplemented("Signing in with an access token of \(provider)")
        }
        guard let content = TestToken.claims(text) else {
            throw AuthFailure("INVALID_IDP_RESPONSE : Unable to parse the token of \(provider).")
        }
        guard let subject = content["sub"]?.string, !subject.isEmpty else {
            throw AuthFailure("INVALID_IDP_RESPONSE : The token of \(provider) names nobody.")
        }
        if let expected = content["nonce"]?.string {
            let given = item("nonce").map { Hex.encode(SHA256.digest(of: Array($0.utf8))) }
            guard given == expected else {
                throw AuthFailure("MISSING_OR_INVALID_NONCE : Nonce is missing or does not fit the token.")
            }
        }
        rawID = subject
        email = try content["email"]?.string.map { text throws(AuthFailure) in try AuthRegister.email(text) }
        isEmailVerified = content["email_verified"]?.bool ?? false
        displayName = content["name"]?.string
        photoURL = content["picture"]?.string
        screenName = content["screen_name"]?.string
        claims = JSON.object(content).text()
    }

    var link: LocalAccount.ProviderLink {
        LocalAccount.ProviderLink(
            provider: provider, rawID: rawID, email: email, displayName: displayName, photoURL: photoURL,
            screenName: screenName)
    }

    /// What every answer about it tells.
    var answer: JSONObject {
        var answer: JSONObject = [
            "kind": "identitytoolkit#VerifyAssertionResponse", "providerId": .string(provider),
            "federatedId": .string(link.federatedID), "emailVerified": .bool(isEmailVerified),
            "rawUserInfo": .string(claims),
        ]
        answer["email"] = email.map { .string($0) }
        answer["displayName"] = displayName.map { .string($0) }
        answer["photoUrl"] = photoURL.map { .string($0) }
        answer["screenName"] = screenName.map { .string($0) }
        answer["oauthIdToken"] = idToken.map { .string($0) }
        answer["oauthAccessToken"] = accessToken.map { .string($0) }
        return answer
    }
}

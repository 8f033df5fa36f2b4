import Foundation
import Switchyard
import SwitchyardBytes

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

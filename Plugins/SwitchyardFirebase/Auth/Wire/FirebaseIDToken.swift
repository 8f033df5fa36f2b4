import Foundation
import Switchyard
import SwitchyardBytes

/// What an ID token says about its bearer. Its signature is for servers to check.
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

    var userID: String { claims["sub"]?.string ?? "" }
    /// Which project's it is.
    var project: String? { claims["aud"]?.string }

    /// How long it was made to last; by the server's clock only, whatever that shows.
    var lifetime: Duration? {
        guard let issued = claims["iat"]?.int64, let end = claims["exp"]?.int64, end > issued else { return nil }
        let (seconds, isTooLong) = end.subtractingReportingOverflow(issued)
        return isTooLong ? nil : .seconds(seconds)
    }

    var signInProvider: String? { claims["firebase"]?["sign_in_provider"]?.string }

    /// The account as far as the token tells.
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

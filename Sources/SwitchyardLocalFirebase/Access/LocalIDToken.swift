import SwitchyardBytes
import SwitchyardServerKit

/// An ID token: a JWT that one local Firebase has signed.
///
/// The vendor signs with the private key of a certificate; a server on this machine has no need of certificates, and
/// checks its own tokens with the key it made them with.
struct LocalIDToken: Sendable {
    /// When the server last had reason to give up tokens of the account. Seconds, in which tokens count, are too coarse
    /// to tell those issued before from those issued after.
    struct Stamp: Hashable, Sendable {
        /// Counts how often the account's tokens were made to run out.
        var expiries = 0
        /// Counts how often its sessions were ended.
        var revocations = 0
    }

    let claims: JSONObject
    let stamp: Stamp

    init(claims: JSONObject, stamp: Stamp) {
        self.claims = claims
        self.stamp = stamp
    }

    func text(_ seal: ServerSeal) -> String {
        let header: JSON = [
            "alg": "HS256", "kid": .string("local-\(stamp.expiries)-\(stamp.revocations)"), "typ": "JWT",
        ]
        let signed = [header, .object(claims)].map { Base64.encode($0.bytes(), alphabet: .url) }.joined(separator: ".")
        return signed + "." + seal.signature(of: signed)
    }

    /// - Returns: `nil` for everything that was not signed with this key.
    init?(_ text: String, _ seal: ServerSeal) {
        guard let dot = text.lastIndex(of: "."), seal.verifies(text[text.index(after: dot)...], of: text[..<dot])
        else { return nil }
        let parts = text[..<dot].split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let header = Self.decode(parts[0]), header["alg"]?.string == "HS256",
            let claims = Self.decode(parts[1]), let key = header["kid"]?.string
        else { return nil }
        let counts = key.split(separator: "-").dropFirst().compactMap { Int($0) }
        guard counts.count == 2 else { return nil }
        self.init(claims: claims, stamp: Stamp(expiries: counts[0], revocations: counts[1]))
    }

    private static func decode(_ part: Substring) -> JSONObject? {
        guard let bytes = Base64.decode(part, alphabet: .url) else { return nil }
        return (try? JSON(parsing: bytes))?.object
    }

    var userID: String { claims["sub"]?.string ?? "" }
    var audience: String? { claims["aud"]?.string }
    var expiresAt: Int64 { claims["exp"]?.int64 ?? 0 }
    /// When the person signed in; refreshing does not move it.
    var signedInAt: Int64 { claims["auth_time"]?.int64 ?? 0 }
    var firebase: JSONObject { claims["firebase"]?.object ?? JSONObject() }
    var signInProvider: String { firebase["sign_in_provider"]?.string ?? "" }
}

package import SwitchyardBytes
import SwitchyardServerKit

/// An ID token: a JWT of one local Firebase, or one written by a test if tokens are not signed.
struct LocalIDToken: Sendable {
    /// Marks when the server last invalidated the account's tokens. The seconds in tokens are too coarse to tell whether a
    /// token was issued before or after that.
    struct Stamp: Hashable, Sendable {
        /// Counts how often the account's tokens were expired.
        var expiries = 0
        /// Counts how often its sessions were ended.
        var revocations = 0
    }

    let claims: JSONObject
    /// `nil` for a token that this server did not issue.
    let stamp: Stamp?

    init(claims: JSONObject, stamp: Stamp) {
        self.claims = claims
        self.stamp = stamp
    }

    /// The member of the header that has the stamp.
    private static let stampName = "stamp"

    func text(_ signer: LocalTokenSigner) -> String {
        var header = signer.header
        header[Self.stampName] = stamp.map { [.integer(Int64($0.expiries)), .integer(Int64($0.revocations))] }
        let signed = [JSON.object(header), .object(claims)].map { Base64.encode($0.bytes(), alphabet: .url) }
            .joined(separator: ".")
        return signed + "." + signer.signature(of: signed)
    }

    /// - Returns: `nil` for anything not signed by this server's method.
    init?(_ text: String, _ signer: LocalTokenSigner) {
        guard let dot = text.lastIndex(of: ".") else { return nil }
        let parts = text[..<dot].split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let header = Self.decode(parts[0]), let claims = Self.decode(parts[1]),
            signer.accepts(text[text.index(after: dot)...], of: text[..<dot], header)
        else { return nil }
        self.claims = claims
        let counts = header[Self.stampName]
        guard let expiries = counts?[0]?.int, let revocations = counts?[1]?.int else {
            stamp = nil
            return
        }
        stamp = Stamp(expiries: expiries, revocations: revocations)
    }

    private static func decode(_ part: Substring) -> JSONObject? {
        guard let bytes = Base64.decode(part, alphabet: .url) else { return nil }
        return (try? JSON(parsing: bytes))?.object
    }

    /// The project that the token is for; `nil` if it names none.
    var project: String? { claims["aud"]?.string }
    var userID: String { claims["sub"]?.string ?? "" }
    /// Whether the token is meant for this project and comes from it.
    func belongs(to project: String) -> Bool {
        claims["aud"]?.string == project && claims["iss"]?.string == "https://securetoken.google.com/\(project)"
    }
    /// Handmade tokens of tests begin in 1970 and never expire.
    func isExpired(at seconds: Int64) -> Bool {
        if stamp == nil, claims["iat"]?.int64 == 0 { return false }
        return claims["exp"]?.int64 ?? 0 <= seconds
    }
    /// When the person signed in; refreshing does not move it.
    var signedInAt: Int64 { claims["auth_time"]?.int64 ?? 0 }
    var firebase: JSONObject { claims["firebase"]?.object ?? JSONObject() }
    var signInProvider: String { firebase["sign_in_provider"]?.string ?? "" }
}

/// The verified caller of a request.
package enum LocalCaller: Sendable, Hashable {
    /// Without a token.
    case unauthenticated
    /// A user with a valid ID token of this server.
    case user(id: String, claims: JSONObject)
    /// The developer, with `Bearer owner`: no rules apply.
    case owner

    /// `nil` for anyone except a signed-in user.
    package var userID: String? {
        if case .user(let id, _) = self { id } else { nil }
    }
}

/// Why a token is not accepted. Never contains the token's contents, except its project.
package enum LocalTokenFailure: Error, Sendable, Hashable {
    /// Not one of our tokens: forged, damaged, or not a token at all.
    case invalid
    case expired
    /// A token of another project, such as one stored from another server.
    case otherProject(String)
}

/// Determines whose token a request carries. Claims are not trusted until the signature has been checked.
package protocol LocalIdentities: Sendable {
    /// - Parameters:
    ///   - authorization: The header of that name: `Bearer …` or, as the storage service spells it, `Firebase …`. `nil` and an
    ///     empty one mean no user.
    ///   - projects: Those whose users the request may be of.
    func caller(authorization: String?, projects: [String]) throws(LocalTokenFailure) -> LocalCaller
}

/// How ID tokens are protected against forgery.
enum LocalTokenSigner: Sendable {
    /// Not at all: tokens have no signature, like those of the vendor's emulator, which the vendor's programs require.
    case unsigned
    /// As in production, with a key whose public half is published.
    case signed(RSAPrivateKey)

    var publicKeys: [RSAPublicKey] {
        switch self {
        case .unsigned: []
        case .signed(let key): [key.publicKey]
        }
    }

    /// The header of a token.
    var header: JSONObject {
        switch self {
        case .unsigned: ["alg": "none", "typ": "JWT"]
        case .signed(let key): ["alg": "RS256", "kid": .string(key.publicKey.id), "typ": "JWT"]
        }
    }

    func signature(of text: String) -> String {
        switch self {
        case .unsigned: ""
        case .signed(let key): Base64.encode(key.signature(of: text), alphabet: .url)
        }
    }

    func accepts(_ signature: Substring, of text: Substring, _ header: JSONObject) -> Bool {
        switch self {
        case .unsigned: header["alg"]?.string == "none" && signature.isEmpty
        case .signed(let key):
            header["alg"]?.string == "RS256"
                && Base64.decode(signature, alphabet: .url).map { key.publicKey.verifies($0, of: text) } ?? false
        }
    }
}

extension ServerSigningKey.Kind {
    static let refreshToken = Self("local-refresh")
    static let pendingSecondFactor = Self("local-second-factor")
    static let pendingCredential = Self("local-credential")
    static let temporaryProof = Self("local-proof")
    static let installationToken = Self("local-installation")
}

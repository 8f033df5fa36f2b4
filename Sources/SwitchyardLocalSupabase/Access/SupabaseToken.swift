package import SwitchyardBytes

/// A JWT of the project: the caller and the database role.
package struct SupabaseToken: Sendable {
    package let claims: JSONObject

    enum Refusal: Error, Hashable {
        case undecodable
        case wrongSignature
        case expired
        case notYetValid
        case fromTheFuture
        /// A required claim has the wrong type.
        case malformedClaim(String)
        case unknownRole(String)
    }

    /// The roles that a token may name; requests never switch to any other.
    static let roles: Set<String> = ["anon", "authenticated", "service_role"]

    /// The tolerated difference between the clocks of issuers and servers.
    static let leeway: Int64 = 30

    package init(claims: JSONObject) { self.claims = claims }

    /// - Parameters:
    ///   - now: In seconds.
    ///   - firebase: The project whose tokens are accepted in addition to those signed with the secret.
    init(_ text: String, secret: [UInt8], now: Int64, firebase: FirebaseProject? = nil) throws(Refusal) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.decode(parts[0]), let claims = Self.decode(parts[1]) else {
            throw .undecodable
        }
        if header["alg"]?.string == "HS256" {
            guard let signature = Base64.decode(parts[2], alphabet: .url) else { throw .undecodable }
            let code = HMACSHA256.code(for: Array("\(parts[0]).\(parts[1])".utf8), key: secret)
            guard HMACSHA256.areEqual(signature, code) else { throw .wrongSignature }
            self.claims = claims
        } else {
            guard let claims = firebase?.claims(parts, header, claims) else { throw .wrongSignature }
            // Anybody can write a token of a project that does not sign. What it says of rights counts for users only.
            if let role = claims["role"], role.string != FirebaseProject.role {
                throw .unknownRole(role.string ?? role.text())
            }
            self.claims = claims
        }
        try Self.check(claims, now: now)
        guard Self.roles.contains(role) else { throw .unknownRole(role) }
    }

    /// Refuses invalid times, and tokens that are expired or not yet valid.
    private static func check(_ claims: JSONObject, now: Int64) throws(Refusal) {
        for name in ["exp", "nbf", "iat"] {
            guard let value = claims[name], !value.isNull else { continue }
            guard let seconds = value.int64 else { throw .malformedClaim(name) }
            switch name {
            case "exp": if seconds < now - leeway { throw .expired }
            case "nbf": if seconds > now + leeway { throw .notYetValid }
            default: if seconds > now + leeway { throw .fromTheFuture }
            }
        }
        switch claims["aud"] {
        case nil, .null?, .string?: break
        case .array(let all)? where all.allSatisfy({ $0.string != nil }): break
        default: throw .malformedClaim("aud")
        }
    }

    func text(secret: [UInt8]) -> String {
        let header: JSON = ["alg": "HS256", "typ": "JWT"]
        let signed = [header, .object(claims)].map { Base64.encode($0.bytes(), alphabet: .url) }.joined(separator: ".")
        return signed + "." + Base64.encode(HMACSHA256.code(for: Array(signed.utf8), key: secret), alphabet: .url)
    }

    package var role: String { claims["role"]?.string ?? "anon" }

    private static func decode(_ part: some StringProtocol) -> JSONObject? {
        Base64.decode(part, alphabet: .url).flatMap { try? JSON(parsing: $0) }?.object
    }
}

package import SwitchyardBytes

/// A JWT of the project: who asks, and as which role of the database.
package struct SupabaseToken: Sendable {
    package let claims: JSONObject

    enum Refusal: Error, Hashable {
        case undecodable
        case wrongSignature
        case expired
        case unknownRole(String)
    }

    /// The roles that a token may name; no other is ever switched to.
    static let roles: Set<String> = ["anon", "authenticated", "service_role"]

    /// Clocks of issuers and servers differ; this much is let pass.
    static let leeway: Int64 = 30

    package init(claims: JSONObject) { self.claims = claims }

    /// - Parameter now: in seconds.
    init(_ text: some StringProtocol, secret: [UInt8], now: Int64) throws(Refusal) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.decode(parts[0]), let claims = Self.decode(parts[1]),
            header["alg"]?.string == "HS256", let signature = Base64.decode(parts[2], alphabet: .url)
        else { throw .undecodable }
        let code = HMACSHA256.code(for: Array("\(parts[0]).\(parts[1])".utf8), key: secret)
        guard HMACSHA256.areEqual(signature, code) else { throw .wrongSignature }
        if let end = claims["exp"]?.int64, end + Self.leeway < now { throw .expired }
        self.claims = claims
        guard Self.roles.contains(role) else { throw .unknownRole(role) }
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

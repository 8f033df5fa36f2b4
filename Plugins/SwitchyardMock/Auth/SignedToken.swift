import Switchyard
import SwitchyardBytes

/// Signed claims: the access, custom and identity tokens of the mock's servers.
struct SignedToken: Sendable {
    let kind: String
    /// Text by name. Never a password.
    let claims: [String: String]
    /// The custom claims.
    let custom: MockClaims

    init(_ kind: String, _ claims: [String: String], custom: MockClaims = MockClaims()) {
        self.kind = kind
        self.claims = claims
        self.custom = custom
    }

    func secret(key: [UInt8]) -> Secret {
        var object = JSONObject([(key: "kind", value: JSON.string(kind))])
        if !custom.values.isEmpty { object["claims"] = custom.json }
        for (name, value) in claims.sorted(by: { $0.key < $1.key }) { object[name] = .string(value) }
        let body = Base64.encode(JSON.object(object).bytes(), alphabet: .url)
        let signature = Base64.encode(HMACSHA256.code(for: Array(body.utf8), key: key), alphabet: .url)
        return Secret("mock.\(body).\(signature)")
    }

    /// `nil` unless the token was signed with `key` for this kind.
    init?(_ secret: Secret, _ kind: String, key: [UInt8]) {
        let parts = secret.reveal().split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "mock",
            let signature = Base64.decode(parts[2].utf8, alphabet: .url),
            HMACSHA256.areEqual(signature, HMACSHA256.code(for: Array(parts[1].utf8), key: key)),
            let body = Base64.decode(parts[1].utf8, alphabet: .url),
            let object = (try? JSON(parsing: body))?.object, object["kind"]?.string == kind
        else { return nil }
        self.kind = kind
        custom = object["claims"].flatMap { MockClaims(json: $0) } ?? MockClaims()
        claims = Dictionary(
            object.compactMap { member in member.value.string.map { (member.key, $0) } },
            uniquingKeysWith: { _, last in last })
    }
}

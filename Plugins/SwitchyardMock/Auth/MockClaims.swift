import Switchyard
import SwitchyardBytes

/// Custom claims of tokens: JSON values, stored as text that distinguishes integers from other numbers.
struct MockClaims: Sendable, Hashable {
    let values: [String: DocumentValue]

    /// The claims of the mock's own tokens, and names with a common meaning in tokens.
    private static let reserved: Set<String> = ["sub", "exp", "jti", "iss", "aud", "iat", "nbf", "kind"]

    init() { values = [:] }

    /// - Throws: `.invalidArgument` for a reserved name, and for a value without a JSON form.
    init(checking values: [String: DocumentValue]) throws(AuthError) {
        if let name = values.keys.first(where: { MockClaims.reserved.contains($0) }) {
            throw AuthError(.invalidArgument, "Every token says “\(name)” already. Choose another name for the claim.")
        }
        guard values.values.allSatisfy(MockClaims.isPlain) else {
            throw AuthError(
                .invalidArgument, "Claims are texts, finite numbers, truth values, null, lists and maps of them.")
        }
        self.values = values
    }

    private static func isPlain(_ value: DocumentValue) -> Bool {
        switch value {
        case .null, .bool, .integer, .string: true
        case .double(let number): number.isFinite
        case .array(let elements): elements.allSatisfy(isPlain)
        case .map(let data): data.allSatisfy { isPlain($0.value) }
        case .timestamp, .bytes, .reference, .geoPoint, .vector: false
        }
    }

    init?(json: JSON) {
        guard let data = DocumentCoding.data(json) else { return nil }
        values = Dictionary(data.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
    }

    var json: JSON { DocumentCoding.json(DocumentData(values.map { ($0.key, $0.value) })) }

    /// These claims, overridden by those of `others` with the same name.
    func merging(_ others: MockClaims?) -> MockClaims {
        MockClaims(values: values.merging(others?.values ?? [:]) { _, other in other })
    }

    private init(values: [String: DocumentValue]) { self.values = values }
}

extension MockClaims: Codable {
    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        guard let json = try? JSON(parsing: value.decode(String.self).utf8), let claims = MockClaims(json: json) else {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "no claims")
        }
        self = claims
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(json.text())
    }
}

public import Foundation
public import Switchyard
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
            throw AuthError(.invalidArgument, "Every token has the claim “\(name)”. Choose another name.")
        }
        guard values.values.allSatisfy(MockClaims.isPlain) else {
            throw AuthError(
                .invalidArgument, "Claims must be strings, finite numbers, booleans, null, or lists and maps of these.")
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

/// An email or text message sent by the mock.
public struct MockMail: Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable, Hashable {
        case signInLink, passwordReset
        /// For the address of a new account, or a changed one; its link signs in.
        case addressConfirmation
        /// A code sent to a phone.
        case phoneCode
    }

    public let kind: Kind
    /// The email address or phone number.
    public let recipient: String
    public let code: Secret
    /// The link to tap, if the email has one.
    public let link: URL?
    public let sentAt: Timestamp

    /// Only the kind, since addresses and codes must not be logged.
    public var description: String { "MockMail(\(kind.rawValue))" }
}

/// The query of an address, by name.
struct URLQuery {
    private let values: [(name: String, value: String)]

    init(_ url: URL) {
        let text = url.absoluteString
        let query = text.split(separator: "#", maxSplits: 1)[0].split(separator: "?", maxSplits: 1).dropFirst().first
        values = query.flatMap { FormCoding.decode($0) } ?? []
    }

    subscript(name: String) -> String? { values.first { $0.name == name }?.value }

    /// `base` with these values added to its query.
    static func url(_ base: String, _ values: KeyValuePairs<String, String>) throws(AuthError) -> URL {
        let query = values.map { "\($0.key)=\(PercentCoding.encode($0.value))" }.joined(separator: "&")
        guard let url = URL(string: base + (base.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + query) else {
            throw AuthError(.invalidArgument, "The redirect URL is invalid.")
        }
        return url
    }
}

/// A key, password or token: usable, comparable, and never printed.
///
/// In configuration files, write a secret as `${NAME}` and put its value in the environment; it is encoded back as `${NAME}`.
public struct Secret: Sendable, Hashable, ExpressibleByStringLiteral {
    private let value: String
    /// The variable it came from, if any.
    public let name: String?

    public init(_ value: String, name: String? = nil) {
        self.value = value
        self.name = name
    }

    public init(stringLiteral value: String) { self.init(value) }

    /// The text itself. Call this only to send it.
    public func reveal() -> String { value }
    public var isEmpty: Bool { value.isEmpty }

    public static func == (left: Secret, right: Secret) -> Bool { left.value.utf8Equals(right.value) }
    public func hash(into hasher: inout Hasher) { value.hashUTF8(into: &hasher) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { name.map { "${\($0)}" } ?? "<secret>" }
    public var debugDescription: String { description }
    /// Empty, so that `dump` and string interpolation of enclosing values reveal nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Secret: Codable {
    /// The key in a decoder's `userInfo` for the variables that `${NAME}` may name, as `[String: String]`.
    public static let environmentKey = CodingUserInfoKey(rawValue: "Switchyard.Secret.environment")!

    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let name = Secret.variable(in: text) else {
            self.init(text)
            return
        }
        let environment = decoder.userInfo[Secret.environmentKey] as? [String: String] ?? [:]
        guard let value = environment[name], !value.isEmpty else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "the variable \(name) is not set"))
        }
        self.init(value, name: name)
    }

    /// The name in a text that is exactly `${NAME}`.
    static func variable(in text: String) -> String? {
        text.hasPrefix("${") && text.hasSuffix("}") ? String(text.dropFirst(2).dropLast()) : nil
    }

    /// Set in an encoder's `userInfo` only while settings from code and file are merged in memory.
    static let revealingKey = CodingUserInfoKey(rawValue: "Switchyard.Secret.revealing")!
    /// The key in an encoder's `userInfo` for ``SecretNames``, which then record every secret that is written.
    static let namesKey = CodingUserInfoKey(rawValue: "Switchyard.Secret.names")!

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if encoder.userInfo[Secret.revealingKey] != nil {
            try container.encode(value)
            return
        }
        let names = encoder.userInfo[Secret.namesKey] as? SecretNames
        try container.encode("${\(names?.name(name, at: encoder.codingPath, value) ?? name ?? "SECRET")}")
    }
}

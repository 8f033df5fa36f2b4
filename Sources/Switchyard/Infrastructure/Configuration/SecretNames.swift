import Synchronization

/// Names secrets that were set in code after their place, so that settings can be written without the values.
final class SecretNames: Sendable {
    private let prefix: String
    private let found = Mutex<[String: String]>([:])

    init(prefix: String) { self.prefix = prefix }

    /// The value of each name.
    var values: [String: String] { found.withLock { $0 } }

    /// - Returns: The name to write: the secret's own, or one made from `path`.
    func name(_ own: String?, at path: [any CodingKey], _ value: String) -> String {
        let name = own ?? ([prefix] + path.map(\.stringValue)).map(SecretNames.variable).joined(separator: "_")
        found.withLock { $0[name] = value }
        return name
    }

    /// `apiKey` → `API_KEY`.
    private static func variable(_ name: String) -> String {
        var result = ""
        var wasLower = false
        for character in name {
            if character.isUppercase, wasLower { result += "_" }
            wasLower = character.isLowercase || character.isNumber
            result += character.isLetter || character.isNumber ? character.uppercased() : "_"
        }
        return result
    }
}

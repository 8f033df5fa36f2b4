import Switchyard

/// A Swift type that is to be written, of a document or of a map in one.
struct SwiftStruct: Equatable, Sendable {
    struct Member: Equatable, Sendable {
        /// The field's own name.
        let field: String
        var type: SwiftType
        var isOptional: Bool
        /// Shown above it.
        var remark: String?
    }

    var name: String
    var summary: String
    /// The type of the document's name; `nil` for a map.
    var id: String?
    var members: [Member]
}

/// The type of a property.
indirect enum SwiftType: Equatable, Sendable {
    /// By its name: `String`, `Timestamp`.
    case named(String)
    case array(SwiftType, hasNulls: Bool)
    /// A map with any keys.
    case dictionary(SwiftType)
    case nested(SwiftStruct)
    /// One of some texts.
    case enumeration(String, [String])

    static let any = SwiftType.named("DocumentValue")
}

/// Names that Swift takes.
enum SwiftName {
    private static let reserved: Set<String> = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout",
        "internal", "let", "open", "operator", "private", "precedencegroup", "protocol", "public", "rethrows", "static",
        "struct", "subscript", "typealias", "var", "break", "case", "catch", "continue", "default", "defer", "do",
        "else",
        "fallthrough", "for", "guard", "if", "in", "repeat", "return", "throw", "switch", "where", "while", "any", "as",
        "await", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try", "Type", "Protocol",
    ]

    static func isIdentifier(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, first == "_" || isLetter(first), text != "_" else { return false }
        return text.unicodeScalars.allSatisfy { $0 == "_" || isLetter($0) || ("0"..."9").contains($0) }
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }

    /// The text as a property or a case; in back quotes where Swift needs them.
    static func quoted(_ name: String) -> String { reserved.contains(name) ? "`\(name)`" : name }

    /// The words of a text, divided at everything that is no letter or digit.
    private static func words(_ text: String) -> [String] {
        text.unicodeScalars.split { !isLetter($0) && !("0"..."9").contains($0) }.map { String($0) }
    }

    /// Names that mean something else in a type, even in back quotes.
    private static let impossible: Set<String> = [
        "init", "self", "Self", "Type", "Protocol", "hashValue", "hash", "encode", "description", "CodingKeys",
        "allCases",
        "rawValue", "none", "some",
    ]

    /// `first name` as `firstName`.
    static func property(_ text: String) -> String {
        if impossible.contains(text) { return text + "Value" }
        if isIdentifier(text) { return text }
        let words = words(text)
        let name = words.enumerated().map { $0.offset == 0 ? lower($0.element) : upper($0.element) }.joined()
        guard let first = name.unicodeScalars.first else { return "field" }
        let property = isLetter(first) ? name : "_" + name
        return impossible.contains(property) ? property + "Value" : property
    }

    /// `check_ins` as `CheckIns`.
    static func type(_ text: String) -> String {
        let name = words(text).map(upper).joined()
        guard let first = name.unicodeScalars.first else { return "Value" }
        return isLetter(first) ? (reserved.contains(name) ? name + "Value" : name) : "_" + name
    }

    private static func upper(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }
    private static func lower(_ word: String) -> String { word.prefix(1).lowercased() + word.dropFirst() }

    /// One of what a collection has many of.
    static func singular(_ text: String) -> String {
        let lower = text.lowercased()
        if lower.hasSuffix("ies"), text.count > 4 { return text.dropLast(3) + "y" }
        for ending in ["sses", "xes", "ches", "shes", "uses"] where lower.hasSuffix(ending) {
            return String(text.dropLast(2))
        }
        let keeps = ["ss", "us", "is", "news", "series"].contains { lower.hasSuffix($0) }
        return lower.hasSuffix("s") && !keeps && text.count > 2 ? String(text.dropLast()) : text
    }

    /// The same names, told apart by numbers.
    static func distinct(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.map { name in
            var (candidate, number) = (name, 2)
            while !seen.insert(candidate).inserted { (candidate, number) = ("\(name)\(number)", number + 1) }
            return candidate
        }
    }
}

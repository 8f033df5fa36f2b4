/// Where a field is in a document: `"name"`, `"address.city"`; names that are not plain identifiers are in back quotes.
public struct FieldPath: Sendable {
    /// The names from the outside in, unquoted. Never empty.
    public let components: [String]
    /// Whether this is ``documentID``.
    public let isDocumentID: Bool
    /// The rank of the first name, computed once for look-ups in many documents.
    let rank: UInt64

    /// Parses dotted text. A name may be in back quotes, within which a backslash escapes a back quote or a backslash.
    ///
    /// Without quotes a name may contain any character except tilde, asterisk, slash, brackets, dot and back quote, so
    /// `"first-name"` needs none.
    /// - Throws: `.invalidArgument` for empty components, unbalanced quotes or those characters.
    public init(validating text: String) throws(StorageError) {
        let components = try FieldPath.parse(text)
        try FieldPath.check(components)
        self.init(unchecked: components)
    }

    /// A path from literal names, whatever characters they contain.
    ///
    /// - Throws: `.invalidArgument` without components or with an empty or reserved one.
    public init(components: [String]) throws(StorageError) {
        try FieldPath.check(components)
        self.init(unchecked: components)
    }

    package init(unchecked components: [String]) {
        self.components = components
        isDocumentID = components.count == 1 && components[0] == "__name__"
        rank = components.first?.utf8Rank ?? 0
    }

    /// The document's own name, to filter and sort by; its values are references.
    public static let documentID = FieldPath(unchecked: ["__name__"])

    package func appending(_ name: String) -> FieldPath { FieldPath(unchecked: components + [name]) }

    /// Whether this path is `other` or lies inside it.
    package func isWithin(_ other: FieldPath) -> Bool {
        components.count >= other.components.count
            && zip(components, other.components).allSatisfy { $0.utf8Equals($1) }
    }

    package func ordering(to other: FieldPath) -> Ordering {
        for (left, right) in zip(components, other.components) {
            let result = left.utf8Ordering(to: right)
            if result != .same { return result }
        }
        return Ordering(components.count, other.components.count)
    }

    private static func check(_ components: [String]) throws(StorageError) {
        guard !components.isEmpty else { throw .invalid("A field path needs at least one name.") }
        for name in components {
            guard !name.isEmpty else { throw .invalid("A field path has an empty name; remove the stray dot.") }
            guard name.utf8.count <= PathSegment.maximumBytes else {
                throw .invalid("A field name has at most \(PathSegment.maximumBytes) bytes of UTF-8.")
            }
            guard !FieldPath.isReserved(name) || (components.count == 1 && name == "__name__") else {
                throw .invalid("A field name cannot begin and end with two underscores; such names are reserved.")
            }
        }
    }

    package static func isReserved(_ name: String) -> Bool {
        PathSegment.isReserved(name.utf8)
    }

    private static func parse(_ text: String) throws(StorageError) -> [String] {
        var components: [String] = []
        var current = String.UnicodeScalarView()
        var isQuoted = false
        var wasQuoted = false
        var scalars = text.unicodeScalars.makeIterator()
        while let scalar = scalars.next() {
            switch scalar {
            case "`" where isQuoted:
                isQuoted = false
                wasQuoted = true
            case "\\" where isQuoted:
                guard let escaped = scalars.next() else {
                    throw .invalid("A field path ends in the middle of an escape.")
                }
                current.append(escaped)
            case _ where isQuoted: current.append(scalar)
            case ".":
                components.append(String(current))
                current = .init()
                wasQuoted = false
            case _ where wasQuoted: throw .invalid("A quoted name in a field path must be followed by a dot.")
            case "`" where current.isEmpty: isQuoted = true
            case "`", "~", "*", "/", "[", "]":
                throw .invalid("Enclose a field name that contains any of ~ * / [ ] or ` in backticks.")
            default: current.append(scalar)
            }
        }
        guard !isQuoted else { throw .invalid("A field path has an unbalanced backtick.") }
        return components + [String(current)]
    }
}

extension FieldPath: Hashable {
    public static func == (left: FieldPath, right: FieldPath) -> Bool {
        left.components.count == right.components.count
            && zip(left.components, right.components).allSatisfy { $0.utf8Equals($1) }
    }

    public func hash(into hasher: inout Hasher) {
        for name in components { name.hashUTF8(into: &hasher) }
    }
}

extension FieldPath: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Traps on an invalid literal. For text that is not a literal use ``init(validating:)``.
    public init(stringLiteral value: String) {
        do throws(StorageError) {
            try self.init(validating: value)
        } catch {
            preconditionFailure("“\(value)” is not a field path: \(error.message)")
        }
    }

    /// Joined by dots, with back quotes around every name that is not a plain identifier.
    public var description: String {
        components.map { FieldPath.isIdentifier($0) ? $0 : FieldPath.quoted($0) }.joined(separator: ".")
    }

    private static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
            return false
        }
        return name.unicodeScalars.allSatisfy {
            switch $0 {
            case "a"..."z", "A"..."Z", "0"..."9", "_": true
            default: false
            }
        }
    }

    private static func quoted(_ name: String) -> String {
        var result = "`"
        for scalar in name.unicodeScalars {
            if scalar == "`" || scalar == "\\" { result.unicodeScalars.append("\\") }
            result.unicodeScalars.append(scalar)
        }
        return result + "`"
    }
}

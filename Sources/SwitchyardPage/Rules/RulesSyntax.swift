/// A text in the vendor's rules language, as far as the rules of the local server use it: they are not loaded from it, but
/// explained by it.
struct RulesText: Sendable {
    struct Match: Sendable {
        /// Without the pattern's first slash: a literal, `{name}` or `{name=**}`.
        let pattern: [Segment]
        var functions: [String: Function] = [:]
        var allows: [Allow] = []
        var matches: [Match] = []
    }

    enum Segment: Sendable, Equatable {
        case literal(String)
        case one(String)
        /// Any number of segments, also none.
        case rest(String)
    }

    struct Function: Sendable {
        let name: String
        let parameters: [String]
        let body: Expression
    }

    struct Allow: Sendable {
        let methods: Set<String>
        let condition: Expression
        /// From 1.
        let line: Int
        /// As it stands there, in one line.
        let text: String
    }

    indirect enum Kind: Sendable {
        case literal(RulesValue)
        case name(String)
        case member(Expression, String)
        case call(Expression, [Expression])
        case path([PathPart])
        case list([Expression])
        case not(Expression)
        case binary(String, Expression, Expression)
        case isType(Expression, String)
    }

    struct Expression: Sendable {
        let kind: Kind
        /// As it stands there, in one line.
        let text: String
    }

    enum PathPart: Sendable {
        case literal(String)
        case value(Expression)
    }

    /// Of the outermost blocks.
    let matches: [Match]

    init(parsing text: String) throws(RulesMistake) {
        var parser = try RulesParser(text)
        matches = try parser.service()
    }
}

/// Why a rules text cannot be read.
struct RulesMistake: Error, CustomStringConvertible {
    let line: Int
    let message: String

    var description: String { "line \(line): \(message)" }
}

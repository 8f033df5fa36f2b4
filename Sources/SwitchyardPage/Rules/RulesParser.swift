/// Reads the vendor's rules language.
struct RulesParser {
    private struct Token {
        let text: String
        /// A text in quotes, without them.
        let isText: Bool
        let line: Int
        let range: Range<Int>
    }

    private let bytes: [UInt8]
    private let tokens: [Token]
    private var index = 0

    init(_ text: String) throws(RulesMistake) {
        bytes = Array(text.utf8)
        tokens = try Self.tokens(bytes)
    }

    // MARK: Tokens

    private static let pairs: Set<String> = ["&&", "||", "==", "!=", "<=", ">=", "**"]

    private static func tokens(_ bytes: [UInt8]) throws(RulesMistake) -> [Token] {
        var tokens: [Token] = []
        var (index, line) = (0, 1)
        func isWord(_ byte: UInt8) -> Bool {
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == UInt8(ascii: "_")
        }
        func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
        while index < bytes.count {
            let byte = bytes[index]
            let start = index
            if byte == 10 { line += 1 }
            if byte <= 32 {
                index += 1
            } else if byte == UInt8(ascii: "/"), index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "/") {
                while index < bytes.count, bytes[index] != 10 { index += 1 }
            } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
                guard let end = bytes[(index + 1)...].firstIndex(of: byte) else {
                    throw RulesMistake(line: line, message: "a text has no end")
                }
                index = end + 1
                tokens.append(Token(text: text(start + 1..<end), isText: true, line: line, range: start..<index))
            } else {
                if isWord(byte) {
                    while index < bytes.count, isWord(bytes[index]) { index += 1 }
                } else {
                    index += index + 1 < bytes.count && pairs.contains(text(index..<index + 2)) ? 2 : 1
                }
                tokens.append(Token(text: text(start..<index), isText: false, line: line, range: start..<index))
            }
        }
        return tokens
    }

    private var line: Int { tokens.indices.contains(index) ? tokens[index].line : tokens.last?.line ?? 1 }

    private func sees(_ text: String) -> Bool {
        tokens.indices.contains(index) && !tokens[index].isText && tokens[index].text == text
    }

    private mutating func take(_ text: String) -> Bool {
        guard sees(text) else { return false }
        index += 1
        return true
    }

    private mutating func expect(_ text: String) throws(RulesMistake) {
        guard take(text) else { throw RulesMistake(line: line, message: "expected “\(text)”") }
    }

    private mutating func word() throws(RulesMistake) -> String {
        guard tokens.indices.contains(index), !tokens[index].isText else {
            throw RulesMistake(line: line, message: "expected a name")
        }
        index += 1
        return tokens[index - 1].text
    }

    /// What was read since `start`, in one line.
    private func source(from start: Int) -> String {
        guard start < index else { return "" }
        let range = tokens[start].range.lowerBound..<tokens[index - 1].range.upperBound
        return String(decoding: bytes[range], as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
    }

    // MARK: Blocks

    mutating func service() throws(RulesMistake) -> [RulesText.Match] {
        if take("rules_version") {
            try expect("=")
            index += 1
            try expect(";")
        }
        try expect("service")
        while !sees("{") { _ = try word() }
        try expect("{")
        var outer = RulesText.Match(pattern: [])
        try block(&outer)
        return outer.matches
    }

    private mutating func block(_ match: inout RulesText.Match) throws(RulesMistake) {
        while !take("}") {
            if take("match") {
                var inner = RulesText.Match(pattern: try pattern())
                try expect("{")
                try block(&inner)
                match.matches.append(inner)
            } else if take("function") {
                let function = try function()
                match.functions[function.name] = function
            } else if sees("allow") {
                match.allows.append(try allow())
            } else {
                throw RulesMistake(line: line, message: "expected match, function, allow or }")
            }
        }
    }

    private mutating func pattern() throws(RulesMistake) -> [RulesText.Segment] {
        var segments: [RulesText.Segment] = []
        while take("/") {
            if take("{") {
                let name = try word()
                if take("=") {
                    try expect("**")
                    segments.append(.rest(name))
                } else {
                    segments.append(.one(name))
                }
                try expect("}")
            } else {
                segments.append(.literal(try word()))
            }
        }
        return segments
    }

    private mutating func function() throws(RulesMistake) -> RulesText.Function {
        let name = try word()
        try expect("(")
        var parameters: [String] = []
        while !take(")") {
            parameters.append(try word())
            _ = take(",")
        }
        try expect("{")
        try expect("return")
        let body = try expression()
        try expect(";")
        try expect("}")
        return RulesText.Function(name: name, parameters: parameters, body: body)
    }

    private mutating func allow() throws(RulesMistake) -> RulesText.Allow {
        let (start, line) = (index, line)
        try expect("allow")
        var methods: Set<String> = []
        repeat {
            switch try word() {
            case "read": methods.formUnion(["get", "list"])
            case "write": methods.formUnion(["create", "update", "delete"])
            case let method: methods.insert(method)
            }
        } while take(",")
        var condition = RulesText.Expression(kind: .literal(.bool(true)), text: "true")
        if take(":") {
            try expect("if")
            condition = try expression()
        }
        try expect(";")
        return RulesText.Allow(methods: methods, condition: condition, line: line, text: source(from: start))
    }

    // MARK: Expressions

    private mutating func expression() throws(RulesMistake) -> RulesText.Expression {
        try binary([["||"], ["&&"], ["==", "!=", "<", "<=", ">", ">=", "is", "in"]])
    }

    private mutating func binary(_ levels: [Set<String>]) throws(RulesMistake) -> RulesText.Expression {
        guard let operators = levels.first else { return try prefix() }
        let start = index
        let rest = Array(levels.dropFirst())
        var left = try binary(rest)
        while tokens.indices.contains(index), !tokens[index].isText, operators.contains(tokens[index].text) {
            let sign = try word()
            if sign == "is" {
                let type = try word()
                left = made(.isType(left, type), from: start)
            } else {
                let right = try binary(rest)
                left = made(.binary(sign, left, right), from: start)
            }
        }
        return left
    }

    /// Ends at the last token that was read before the call: no argument may read further.
    private func made(_ kind: RulesText.Kind, from start: Int) -> RulesText.Expression {
        RulesText.Expression(kind: kind, text: source(from: start))
    }

    private mutating func prefix() throws(RulesMistake) -> RulesText.Expression {
        let start = index
        if take("!") {
            let operand = try prefix()
            return made(.not(operand), from: start)
        }
        var value = try primary()
        while true {
            if take(".") {
                let name = try word()
                value = made(.member(value, name), from: start)
            } else if take("(") {
                let arguments = try list(until: ")")
                value = made(.call(value, arguments), from: start)
            } else {
                return value
            }
        }
    }

    private mutating func list(until end: String) throws(RulesMistake) -> [RulesText.Expression] {
        var elements: [RulesText.Expression] = []
        while !take(end) {
            elements.append(try expression())
            if !take(","), !sees(end) { throw RulesMistake(line: line, message: "expected “,” or “\(end)”") }
        }
        return elements
    }

    private mutating func primary() throws(RulesMistake) -> RulesText.Expression {
        let start = index
        guard tokens.indices.contains(index) else { throw RulesMistake(line: line, message: "expected a value") }
        let token = tokens[index]
        if token.isText {
            index += 1
            return made(.literal(.string(token.text)), from: start)
        }
        if take("(") {
            let inner = try expression()
            try expect(")")
            return made(inner.kind, from: start)
        }
        if take("[") {
            let elements = try list(until: "]")
            return made(.list(elements), from: start)
        }
        if sees("/") {
            let parts = try path()
            return made(.path(parts), from: start)
        }
        let name = try word()
        switch name {
        case "true", "false": return made(.literal(.bool(name == "true")), from: start)
        case "null": return made(.literal(.null), from: start)
        default: return made(Int64(name).map { .literal(.integer($0)) } ?? .name(name), from: start)
        }
    }

    private mutating func path() throws(RulesMistake) -> [RulesText.PathPart] {
        var parts: [RulesText.PathPart] = []
        while take("/") {
            if take("$") {
                try expect("(")
                parts.append(.value(try expression()))
                try expect(")")
            } else {
                parts.append(.literal(try word()))
            }
        }
        return parts
    }
}

import Switchyard
import SwitchyardBytes

/// A word of a query's text.
struct QueryToken: Equatable {
    enum Kind: Equatable {
        /// A keyword or a part of a field: letters, digits and other characters that need no quotes.
        case word(String)
        /// A field with dots or back quotes, as it was written.
        case field(String)
        case string(String)
        case integer(Int64)
        case double(Double)
        /// One of `( ) [ ] { } , :` and of the comparisons.
        case symbol(String)
        case end
    }

    let kind: Kind
    let range: Range<Int>
}

/// Divides a query's text into tokens.
struct QueryLexer {
    private let text: String
    private let bytes: [UInt8]
    private var position = 0

    private init(_ text: String) {
        self.text = text
        bytes = Array(text.utf8)
    }

    /// All tokens, the last of which is the end.
    static func tokens(of text: String) throws(TextMistake) -> [QueryToken] {
        var lexer = QueryLexer(text)
        var tokens: [QueryToken] = []
        repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
        return tokens
    }

    private mutating func next() throws(TextMistake) -> QueryToken {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
        let start = position
        guard position < bytes.count else { return QueryToken(kind: .end, range: start..<start) }
        switch bytes[position] {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return try string(closedBy: bytes[position])
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "-") where position + 1 < bytes.count && Self.isDigit(bytes[position + 1]):
            return try number()
        case let byte where Self.isWordPart(byte) || byte == UInt8(ascii: "`"): return try word()
        default: return try symbol()
        }
    }

    private func mistake(_ message: String, from start: Int, to end: Int? = nil) -> TextMistake {
        TextMistake(message, at: start..<(end ?? position), in: text)
    }

    private func token(_ kind: QueryToken.Kind, from start: Int) -> QueryToken {
        QueryToken(kind: kind, range: start..<position)
    }

    // MARK: Symbols

    private mutating func symbol() throws(TextMistake) -> QueryToken {
        let start = position
        for symbol in ["<=", ">=", "==", "!=", "<>", "=", "<", ">", "(", ")", "[", "]", "{", "}", ",", ":"]
        where bytes[position...].starts(with: symbol.utf8) {
            position += symbol.utf8.count
            return token(.symbol(symbol), from: start)
        }
        let character = String(decoding: bytes[start...], as: UTF8.self).first.map(String.init) ?? ""
        throw mistake(
            "“\(character)” means nothing here", from: start, to: min(bytes.count, start + max(1, character.utf8.count))
        )
    }

    // MARK: Words and fields

    private mutating func word() throws(TextMistake) -> QueryToken {
        let start = position
        var isField = false
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "`") {
                isField = true
                try skipQuotedName()
            } else if byte == UInt8(ascii: ".") {
                isField = true
                position += 1
            } else if Self.isWordPart(byte) {
                position += 1
            } else {
                break
            }
        }
        let written = String(decoding: bytes[start..<position], as: UTF8.self)
        return token(isField ? .field(written) : .word(written), from: start)
    }

    private mutating func skipQuotedName() throws(TextMistake) {
        let start = position
        position += 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "`") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard position < bytes.count else {
            position = bytes.count
            throw mistake("the back quote is not closed", from: start)
        }
        position += 1
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    private static func isWordPart(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte != 0x7F && !"\"'`.()[]{},:<>=!~*/\\;".utf8.contains(byte)
    }

    // MARK: Numbers

    private mutating func number() throws(TextMistake) -> QueryToken {
        let start = position
        position += 1
        while position < bytes.count, Self.isNumberPart(bytes[position], after: bytes[position - 1]) { position += 1 }
        let written = String(decoding: bytes[start..<position], as: UTF8.self)
        // JSON's numbers, so that values are written alike in queries and in documents.
        switch try? JSON(parsing: written) {
        case .integer(let value): return token(.integer(value), from: start)
        case .number(let value) where written.utf8.contains(where: { ".eE".utf8.contains($0) }):
            return token(.double(value), from: start)
        case .number(let value) where written == "-0": return token(.double(value), from: start)
        case .number: throw mistake("“\(written)” does not fit in 64 bits; write it with a point", from: start)
        default:
            throw mistake(
                "“\(written)” is no number; enclose text in quotes, and a name in back quotes", from: start)
        }
    }

    private static func isNumberPart(_ byte: UInt8, after last: UInt8) -> Bool {
        if byte == UInt8(ascii: ".") { return true }
        if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { return "eE".utf8.contains(last) }
        return isWordPart(byte)
    }

    // MARK: Text

    private mutating func string(closedBy quote: UInt8) throws(TextMistake) -> QueryToken {
        let start = position
        position += 1
        var units: [UInt8] = []
        while position < bytes.count, bytes[position] != quote {
            if bytes[position] == UInt8(ascii: "\\") {
                units += try escape()
            } else {
                units.append(bytes[position])
                position += 1
            }
        }
        guard position < bytes.count else { throw mistake("the text is not closed by a quote", from: start) }
        position += 1
        return token(.string(String(decoding: units, as: UTF8.self)), from: start)
    }

    /// As in JSON, and besides the single quote.
    private mutating func escape() throws(TextMistake) -> [UInt8] {
        let start = position
        position += 1
        let letter = position < bytes.count ? bytes[position] : 0
        position = min(bytes.count, position + 1)
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [letter]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "u"):
            guard let scalar = unicodeScalar() else {
                throw mistake("“\\u” takes four hexadecimal digits", from: start)
            }
            return Array(String(Character(scalar)).utf8)
        default: throw mistake("there is no escape of this kind; a backslash is written as two", from: start)
        }
    }

    private mutating func unicodeScalar() -> Unicode.Scalar? {
        guard let first = fourDigits() else { return nil }
        guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) }
        guard bytes[position...].starts(with: #"\u"#.utf8) else { return nil }
        position += 2
        guard let second = fourDigits(), (0xDC00..<0xE000).contains(second) else { return nil }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    private mutating func fourDigits() -> UInt32? {
        guard position + 4 <= bytes.count else { return nil }
        let digits = bytes[position..<position + 4].compactMap { Hex.value(of: $0) }
        guard digits.count == 4 else { return nil }
        position += 4
        return digits.reduce(0) { $0 << 4 | UInt32($1) }
    }
}

/// A condition of PostgreSQL, taken apart at its outermost words.
struct SQLCondition: Sendable {
    enum Form: Sendable, Equatable {
        case all([String])
        case any([String])
        case single
    }

    let text: String
    let form: Form
    /// The two sides, if it is a comparison.
    let sides: (left: String, right: String)?

    init(_ text: String) {
        let bare = Self.bare(text)
        self.text = bare
        let all = Self.split(bare, at: " AND ")
        let any = Self.split(bare, at: " OR ")
        form = any.count > 1 ? .any(any) : all.count > 1 ? .all(all) : .single
        sides = form == .single ? Self.sides(of: bare) : nil
    }

    /// Without the parentheses around the whole.
    private static func bare(_ text: String) -> String {
        var text = text
        while text.hasPrefix("("), text.hasSuffix(")"), end(of: Array(text.utf8), from: 0) == text.utf8.count - 1 {
            text = String(text.dropFirst().dropLast())
        }
        return text
    }

    /// Where the parenthesis that begins at `start` ends.
    private static func end(of bytes: [UInt8], from start: Int) -> Int? {
        var depth = 0
        var quote: UInt8?
        for index in start..<bytes.count {
            let byte = bytes[index]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
                quote = byte
            } else if byte == UInt8(ascii: "(") {
                depth += 1
            } else if byte == UInt8(ascii: ")") {
                depth -= 1
                if depth == 0 { return index }
            }
        }
        return nil
    }

    /// The places outside quotes and parentheses where `word` stands.
    private static func split(_ text: String, at word: String) -> [String] {
        let bytes = Array(text.utf8)
        let wanted = Array(word.utf8)
        var parts: [String] = []
        var (depth, start, index) = (0, 0, 0)
        var quote: UInt8?
        // BETWEEN has an AND of its own.
        var isBetween = false
        while index < bytes.count {
            let byte = bytes[index]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
                quote = byte
            } else if byte == UInt8(ascii: "(") || byte == UInt8(ascii: "[") {
                depth += 1
            } else if byte == UInt8(ascii: ")") || byte == UInt8(ascii: "]") {
                depth -= 1
            } else if depth == 0 {
                if bytes[index...].starts(with: " BETWEEN ".utf8) { isBetween = true }
                if bytes[index...].starts(with: wanted) {
                    if isBetween, word == " AND " {
                        isBetween = false
                    } else {
                        parts.append(String(decoding: bytes[start..<index], as: UTF8.self))
                        start = index + wanted.count
                        index = start
                        continue
                    }
                }
            }
            index += 1
        }
        parts.append(String(decoding: bytes[start...], as: UTF8.self))
        return parts
    }

    private static func sides(of text: String) -> (left: String, right: String)? {
        for sign in [" = ", " <> ", " >= ", " <= ", " > ", " < ", " IS NOT DISTINCT FROM ", " IS DISTINCT FROM "] {
            let parts = split(text, at: sign)
            if parts.count == 2 { return (parts[0], parts[1]) }
        }
        return nil
    }
}

import SwitchyardBytes

/// A column, or a path within its JSON, as named in requests: `data->address->>city`.
struct RESTColumn: Hashable, Sendable {
    struct Step: Hashable, Sendable {
        enum Key: Hashable, Sendable {
            case name(String)
            case index(Int)
        }
        let key: Key
        /// Whether the step returns text instead of JSON.
        let isText: Bool
    }

    let name: String
    let steps: [Step]

    init(_ name: String, steps: [Step] = []) {
        self.name = name
        self.steps = steps
    }

    /// - Throws: If the text is not a column; a dot would refer to embedded rows.
    init(parsing text: some StringProtocol) throws(RESTFailure) {
        var scanner = RESTScanner(text)
        self.init(try scanner.name(until: { $0 == "." || $0 == ":" }), steps: try RESTColumn.steps(&scanner))
        guard scanner.isAtEnd else {
            throw scanner.next() == "." ? .notEmbedded(name) : .unparsable(String(text))
        }
    }

    /// Parses the steps of a path, as far as possible.
    static func steps(_ scanner: inout RESTScanner) throws(RESTFailure) -> [Step] {
        var steps: [Step] = []
        while scanner.skip("->") {
            let isText = scanner.skip(">")
            let isQuoted = scanner.peek == "\""
            let key = try scanner.name { $0 == "." || $0 == ":" || $0 == "," || $0 == ")" }
            if !isQuoted, let index = Int(key) {
                steps.append(Step(key: .index(index), isText: isText))
            } else {
                steps.append(Step(key: .name(key), isText: isText))
            }
        }
        return steps
    }

    /// Its name in results, which is the last name of the path.
    var label: String {
        for step in steps.reversed() {
            if case .name(let name) = step.key { return name }
        }
        return name
    }
}

/// Scans texts of requests from left to right.
struct RESTScanner {
    private var rest: Substring
    private let text: String

    init(_ text: some StringProtocol) {
        self.text = String(text)
        rest = self.text[...]
    }

    var isAtEnd: Bool { rest.isEmpty }
    var peek: Character? { rest.first }

    mutating func next() -> Character? { rest.popFirst() }

    mutating func skip(_ prefix: String) -> Bool {
        guard rest.hasPrefix(prefix) else { return false }
        rest = rest.dropFirst(prefix.count)
        return true
    }

    mutating func skipSpaces() { rest = rest.drop { $0 == " " } }

    mutating func demand(_ prefix: String) throws(RESTFailure) {
        guard skip(prefix) else { throw .unparsable(text) }
    }

    mutating func take(while isMeant: (Character) -> Bool) -> String {
        let part = rest.prefix(while: isMeant)
        rest = rest[part.endIndex...]
        return String(part)
    }

    mutating func takeRest() -> String {
        defer { rest = "" }
        return String(rest)
    }

    /// Parses a name: in quotes, or up to an arrow or an end character.
    mutating func name(until isEnd: (Character) -> Bool) throws(RESTFailure) -> String {
        if peek == "\"" { return try quoted() }
        var name = ""
        while let letter = peek, !isEnd(letter), !rest.hasPrefix("->") {
            name.append(letter)
            rest.removeFirst()
        }
        guard !name.isEmpty else { throw .unparsable(text) }
        return name
    }

    /// Parses quoted text, in which a backslash escapes the next character.
    mutating func quoted() throws(RESTFailure) -> String {
        try demand("\"")
        var content = ""
        while let letter = next() {
            switch letter {
            case "\"": return content
            case "\\": if let escaped = next() { content.append(escaped) }
            default: content.append(letter)
            }
        }
        throw .unparsable(text)
    }
}

extension RESTFailure {
    static func unparsable(_ text: String) -> RESTFailure { unparsable("(\(text))", "unexpected input") }

    static func unparsable(_ what: String, _ details: String) -> RESTFailure {
        var failure = RESTFailure(400, "PGRST100", "\"failed to parse \(what)\" (line 1, column 1)")
        failure.details = .string(details)
        return failure
    }
}

/// Parses comma-separated values.
enum RESTTableText {
    /// - Returns: The values of each line, without quotes.
    static func rows(_ text: String) -> [[String]] {
        var rows: [[String]] = []
        var row: [String] = []
        var (value, isQuoted) = ("", false)
        var rest = Array(text)[...]
        func end(_ row: inout [String], _ value: inout String) {
            row.append(value)
            value = ""
        }
        while let letter = rest.popFirst() {
            if isQuoted {
                if letter != "\"" {
                    value.append(letter)
                } else if rest.first == "\"" {
                    value.append("\"")
                    rest.removeFirst()
                } else {
                    isQuoted = false
                }
                continue
            }
            switch letter {
            case "\"" where value.isEmpty: isQuoted = true
            case ",": end(&row, &value)
            case "\n", "\r\n":
                end(&row, &value)
                rows.append(row)
                row = []
            default: value.append(letter)
            }
        }
        if !row.isEmpty || !value.isEmpty {
            end(&row, &value)
            rows.append(row)
        }
        return rows
    }
}

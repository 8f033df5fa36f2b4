import Switchyard

/// Reads the clauses of a query's text.
struct QueryParser {
    let text: String
    private let tokens: [QueryToken]
    private var index = 0

    init(_ text: String) throws(TextMistake) {
        self.text = text
        tokens = try QueryLexer.tokens(of: text)
    }

    private static let clauses = ["where", "order", "start", "end", "limit", "offset", "select"]

    // MARK: Tokens

    var token: QueryToken { tokens[index] }
    /// Where the last token ended.
    private var lastEnd: Int { index == 0 ? 0 : tokens[index - 1].range.upperBound }

    mutating func advance() { if index < tokens.count - 1 { index += 1 } }

    func mistake(_ message: String, at range: Range<Int>? = nil) -> TextMistake {
        TextMistake(message, at: range ?? token.range, in: text)
    }

    /// The word in lower case, since keywords may be written in capital letters.
    var keyword: String? {
        if case .word(let word) = token.kind { word.lowercased() } else { nil }
    }

    mutating func take(_ keywords: String...) -> Bool {
        guard let keyword, keywords.contains(keyword) else { return false }
        advance()
        return true
    }

    mutating func take(symbol: String) -> Bool {
        guard token.kind == .symbol(symbol) else { return false }
        advance()
        return true
    }

    mutating func require(symbol: String, _ purpose: String) throws(TextMistake) {
        guard take(symbol: symbol) else { throw mistake("expected “\(symbol)” \(purpose), found \(found)") }
    }

    /// The token, for an error.
    var found: String {
        switch token.kind {
        case .end: return "the end"
        default:
            let bytes = Array(text.utf8)[token.range]
            return "“\(String(decoding: bytes, as: UTF8.self))”"
        }
    }

    /// What `read` reads, with its place.
    mutating func placed<Value>(
        from start: Int? = nil, _ read: (inout QueryParser) throws(TextMistake) -> Value
    ) throws(TextMistake) -> QueryText.Placed<Value> {
        let start = start ?? token.range.lowerBound
        let value = try read(&self)
        return QueryText.Placed(value: value, range: start..<max(start, lastEnd))
    }

    // MARK: Clauses

    mutating func query() throws(TextMistake) -> QueryText {
        var query = QueryText(text: text)
        while token.kind != .end {
            let start = token
            guard let keyword else { throw clauseMistake() }
            advance()
            switch keyword {
            case "where":
                try once(query.filter == nil, "where", start)
                try readFilter(into: &query)
            case "order":
                try once(query.orders.isEmpty, "order by", start)
                guard take("by") else { throw mistake("expected “by” after “order”, found \(found)") }
                query.orders = try list { parser throws(TextMistake) in
                    try parser.placed { parser throws(TextMistake) in try parser.order() }
                }
            case "limit":
                try once(query.limit == nil, "limit", start)
                query.limit = try placed(from: start.range.lowerBound) { parser throws(TextMistake) in
                    if parser.take("last") { return .last(try parser.count("limit last")) }
                    return .first(try parser.count("limit"))
                }
            case "offset":
                try once(query.offset == nil, "offset", start)
                query.offset = try placed(from: start.range.lowerBound) { parser throws(TextMistake) in
                    try parser.count("offset")
                }
            case "start":
                try once(query.start == nil, "start", start)
                query.start = try cursor(start, ["at": .startAt, "after": .startAfter], "“at” or “after”")
            case "end":
                try once(query.end == nil, "end", start)
                query.end = try cursor(start, ["at": .endAt, "before": .endBefore], "“at” or “before”")
            case "select":
                try once(query.fields == nil, "select", start)
                query.fields = try placed { parser throws(TextMistake) in
                    try parser.list { parser throws(TextMistake) in try parser.field() }
                }
            default:
                index -= 1
                throw clauseMistake()
            }
        }
        return query
    }

    private func once(_ isFirst: Bool, _ name: String, _ token: QueryToken) throws(TextMistake) {
        guard isFirst else { throw mistake("there is a second “\(name)”; write one", at: token.range) }
    }

    private func clauseMistake() -> TextMistake {
        let names = "“where”, “order by”, “start”, “end”, “limit”, “offset” or “select”"
        if index == 0, keyword.map({ !Self.clauses.contains($0) }) ?? true,
            case .word = token.kind, index + 1 < tokens.count, case .symbol = tokens[1].kind
        {
            return mistake("conditions begin with “where”")
        }
        let joins = index == 0 ? "" : "“and”, “or”, "
        let near = keyword.flatMap { nearestName(to: $0, in: Self.clauses + (index == 0 ? [] : ["and", "or"])) }
        return mistake(
            "expected \(joins)\(names), found \(found)." + (near.map { " Did you mean “\($0)”?" } ?? ""))
    }

    private mutating func readFilter(into query: inout QueryText) throws(TextMistake) {
        let filter = try placed { parser throws(TextMistake) in try parser.alternatives(depth: 0) }
        query.filter = QueryText.Placed(value: filter.value.filter, range: filter.range)
        query.conditions = filter.value.parts
    }

    private mutating func order() throws(TextMistake) -> Query.Order {
        let field = try field()
        if take("desc", "descending") { return Query.Order(field, .descending) }
        _ = take("asc", "ascending")
        return Query.Order(field, .ascending)
    }

    private mutating func cursor(
        _ start: QueryToken, _ edges: [String: QueryText.Edge], _ words: String
    ) throws(TextMistake) -> QueryText.Placed<(edge: QueryText.Edge, values: [DocumentValue])> {
        try placed(from: start.range.lowerBound) { parser throws(TextMistake) in
            guard let edge = parser.keyword.flatMap({ edges[$0] }) else {
                throw parser.mistake("expected \(words), found \(parser.found)")
            }
            parser.advance()
            return (edge, try parser.list { parser throws(TextMistake) in try parser.value() })
        }
    }

    private mutating func count(_ clause: String) throws(TextMistake) -> Int {
        guard case .integer(let number) = token.kind, let count = Int(exactly: number) else {
            throw mistake("“\(clause)” takes a whole number, found \(found)")
        }
        advance()
        return count
    }

    /// One or several, with commas between them.
    mutating func list<Element>(
        _ read: (inout QueryParser) throws(TextMistake) -> Element
    ) throws(TextMistake) -> [Element] {
        var elements = [try read(&self)]
        while take(symbol: ",") { elements.append(try read(&self)) }
        return elements
    }

    mutating func field() throws(TextMistake) -> FieldPath {
        let written: String
        switch token.kind {
        case .word(let word): written = word
        case .field(let text): written = text
        case .string: throw mistake("expected a field, found text; enclose a field's name in back quotes")
        default: throw mistake("expected a field, found \(found)")
        }
        do throws(StorageError) {
            let field = try FieldPath(validating: written)
            advance()
            return field
        } catch {
            throw mistake(error.message)
        }
    }
}

import Switchyard

extension QueryParser {
    /// A filter, with the parts of its outermost “and”.
    struct Conditions {
        var filter: Filter
        var parts: [QueryText.Placed<Filter>]
    }

    /// Texts nest no deeper, so that no text exhausts the stack. Queries nest less.
    private static let maximumDepth = 64

    mutating func alternatives(depth: Int) throws(TextMistake) -> Conditions {
        guard depth < Self.maximumDepth else { throw mistake("the parentheses nest too deep") }
        let first = try placed { parser throws(TextMistake) in try parser.conjunction(depth: depth) }
        var all = [first.value.filter]
        while take("or") { all.append(try conjunction(depth: depth).filter) }
        guard all.count > 1 else { return first.value }
        let filter = Filter.any(all)
        return Conditions(filter: filter, parts: [QueryText.Placed(value: filter, range: first.range)])
    }

    private mutating func conjunction(depth: Int) throws(TextMistake) -> Conditions {
        var parts: [QueryText.Placed<Filter>] = []
        repeat {
            parts.append(try placed { parser throws(TextMistake) in try parser.condition(depth: depth) })
        } while take("and")
        return Conditions(filter: parts.count == 1 ? parts[0].value : .all(parts.map(\.value)), parts: parts)
    }

    private mutating func condition(depth: Int) throws(TextMistake) -> Filter {
        if take(symbol: "(") {
            let filter = try alternatives(depth: depth + 1).filter
            try require(symbol: ")", "after the conditions")
            return filter
        }
        if keyword == "not" { throw mistake("“not” stands after a field: “city not in [\"Ulm\"]”, “note is not null”") }
        let field = try field()
        return try comparison(of: field)
    }

    private static let symbols: [String: Filter.Operator] = [
        "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .lessThan, "<=": .lessThanOrEqual,
        ">": .greaterThan, ">=": .greaterThanOrEqual,
    ]
    private static let words = ["in", "not", "includes", "is"]

    private mutating func comparison(of field: FieldPath) throws(TextMistake) -> Filter {
        if case .symbol(let symbol) = token.kind, let operation = Self.symbols[symbol] {
            advance()
            return .comparison(field, operation, try value())
        }
        if take("in") { return .comparison(field, .in, try listValue("in")) }
        if take("includes") {
            if take("any") { return .comparison(field, .arrayContainsAny, try listValue("includes any")) }
            return .comparison(field, .arrayContains, try value())
        }
        if take("is") { return .test(field, try test()) }
        if take("not") {
            guard take("in") else { throw mistake("expected “in” after “not”, found \(found)") }
            return .comparison(field, .notIn, try listValue("not in"))
        }
        let near = keyword.flatMap { nearestName(to: $0, in: Self.words) }.map { " Did you mean “\($0)”?" }
        throw mistake(
            "expected a comparison after “\(field)”: =, !=, <, <=, >, >=, “in”, “not in”, “includes”, “includes any” or “is”; "
                + "found \(found)." + (near ?? ""))
    }

    private mutating func test() throws(TextMistake) -> Filter.Test {
        let isNegated = take("not")
        if take("null") { return isNegated ? .isNotNull : .isNull }
        if take("nan") { return isNegated ? .isNotNaN : .isNaN }
        throw mistake("expected “null” or “nan” after “is\(isNegated ? " not" : "")”, found \(found)")
    }

    private mutating func listValue(_ operation: String) throws(TextMistake) -> DocumentValue {
        guard token.kind == .symbol("[") else {
            throw mistake("“\(operation)” takes a list, such as [\"a\", \"b\"]; found \(found)")
        }
        return try value()
    }

    // MARK: Values

    mutating func value() throws(TextMistake) -> DocumentValue { try value(depth: 0) }

    private mutating func value(depth: Int) throws(TextMistake) -> DocumentValue {
        guard depth < Self.maximumDepth else { throw mistake("the value nests too deep") }
        switch token.kind {
        case .string(let text):
            advance()
            return .string(text)
        case .integer(let number):
            advance()
            return .integer(number)
        case .double(let number):
            advance()
            return .double(number)
        case .symbol("["):
            advance()
            return .array(try elements(depth: depth))
        case .symbol("{"):
            advance()
            return .map(try members(depth: depth))
        case .word: return try namedValue(depth: depth)
        default: throw mistake("expected a value, found \(found)")
        }
    }

    private mutating func elements(depth: Int) throws(TextMistake) -> [DocumentValue] {
        if take(symbol: "]") { return [] }
        let elements = try list { parser throws(TextMistake) in try parser.value(depth: depth + 1) }
        try require(symbol: "]", "after the list")
        return elements
    }

    private mutating func members(depth: Int) throws(TextMistake) -> DocumentData {
        if take(symbol: "}") { return DocumentData() }
        let members = try list { parser throws(TextMistake) in
            let name = try parser.memberName()
            try parser.require(symbol: ":", "after the name")
            return (name, try parser.value(depth: depth + 1))
        }
        try require(symbol: "}", "after the map")
        return DocumentData(members)
    }

    private mutating func memberName() throws(TextMistake) -> String {
        switch token.kind {
        case .string(let name), .word(let name):
            advance()
            return name
        default: throw mistake("expected the name of a member, found \(found)")
        }
    }

    private static let names = [
        "true", "false", "null", "nan", "infinity", "timestamp", "bytes", "reference", "geoPoint", "vector",
    ]

    private mutating func namedValue(depth: Int) throws(TextMistake) -> DocumentValue {
        let name = token
        let word = keyword ?? ""
        advance()
        switch word {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        case "nan": return .double(.nan)
        case "infinity": return .double(.infinity)
        case "-infinity": return .double(-.infinity)
        case "timestamp":
            return try text("timestamp", "a time such as \"2026-05-01T09:41:00Z\"") { ValueText.timestamp($0) }
        case "bytes": return try text("bytes", "Base64 such as \"aGk=\"") { ValueText.bytes($0) }
        case "reference": return try reference()
        case "geopoint": return try geoPoint()
        case "vector": return try vector(depth: depth)
        default:
            let near = nearestName(to: word, in: Self.names).map { " Did you mean “\($0)”?" } ?? ""
            throw mistake(
                "\(found(name)) is no value: enclose text in quotes.\(near)", at: name.range)
        }
    }

    private func found(_ token: QueryToken) -> String {
        "“\(String(decoding: Array(text.utf8)[token.range], as: UTF8.self))”"
    }

    private mutating func text(
        _ kind: String, _ example: String, _ read: (String) -> DocumentValue?
    ) throws(TextMistake) -> DocumentValue {
        guard case .string(let written) = token.kind else {
            throw mistake("“\(kind)” takes \(example), found \(found)")
        }
        guard let value = read(written) else { throw mistake("“\(kind)” takes \(example), not \(found)") }
        advance()
        return value
    }

    private mutating func reference() throws(TextMistake) -> DocumentValue {
        let value = try text("reference", "the path of a document such as \"users/alice\"") { text in
            (try? StoragePath(validating: text)).map { .reference(DocumentReference($0)) }
        }
        guard take("from") else { return value }
        guard case .string(let origin) = token.kind, case .reference(let reference) = value else {
            throw mistake("“from” takes the name of another database in quotes, found \(found)")
        }
        advance()
        return .reference(DocumentReference(reference.path, origin: origin))
    }

    private mutating func geoPoint() throws(TextMistake) -> DocumentValue {
        let start = token.range.lowerBound
        try require(symbol: "(", "and two numbers, such as geoPoint(48.4, 10)")
        let latitude = try coordinate()
        try require(symbol: ",", "between latitude and longitude")
        let longitude = try coordinate()
        let end = token.range.upperBound
        try require(symbol: ")", "after the longitude")
        do throws(StorageError) {
            return .geoPoint(try GeoPoint(latitude: latitude, longitude: longitude))
        } catch {
            throw mistake(error.message, at: start..<end)
        }
    }

    private mutating func coordinate() throws(TextMistake) -> Double {
        switch token.kind {
        case .integer(let number):
            advance()
            return Double(number)
        case .double(let number):
            advance()
            return number
        default: throw mistake("expected a number, found \(found)")
        }
    }

    private mutating func vector(depth: Int) throws(TextMistake) -> DocumentValue {
        let list = try placed { parser throws(TextMistake) in try parser.value(depth: depth + 1) }
        let numbers = list.value.arrayValue?.compactMap(\.doubleValue)
        guard let numbers, numbers.count == list.value.arrayValue?.count else {
            throw mistake("“vector” takes a list of numbers, such as vector [1, 0.5]", at: list.range)
        }
        return .vector(numbers)
    }
}

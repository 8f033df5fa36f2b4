import SwitchyardBytes

/// A condition of a request.
indirect enum RESTFilter: Hashable, Sendable {
    case comparison(RESTColumn, RESTOperation)
    case all([RESTFilter])
    case any([RESTFilter])
    case not(RESTFilter)

    /// Whether a parameter with this name concerns several columns.
    static func isGroup(_ name: String) -> Bool {
        name == "and" || name == "or" || name.hasSuffix(".and") || name.hasSuffix(".or")
    }

    /// Parses one parameter: `age=gte.18`, `or=(…)`, `not.and=(…)`.
    init(name: String, value: String) throws(RESTFailure) {
        switch name {
        case "and", "or", "not.and", "not.or":
            guard value.hasPrefix("(") else { throw .unparsable(value) }
            var scanner = RESTScanner(name + value)
            do throws(RESTFailure) {
                self = try RESTFilter(node: &scanner)
                guard scanner.isAtEnd else { throw RESTFailure.unparsable(value) }
            } catch {
                guard error.code == "PGRST100" else { throw error }
                throw .unparsable("logic tree (\(value))", error.details.string ?? "")
            }
        default:
            var scanner = RESTScanner(value)
            let isNegated = scanner.skip("not.")
            let operation: RESTOperation
            do throws(RESTFailure) {
                operation = try RESTOperation(&scanner, inTree: false)
            } catch  where error.details == RESTOperation.noState {
                throw .unparsable("filter (\(value))", error.details.string ?? "")
            } catch {
                throw .unparsable(
                    "filter (\(value))",
                    "unexpected \(value.first.map { "\"\($0)\"" } ?? "end of input") expecting \"not\" or operator (eq, gt, ...)"
                )
            }
            // As with the vendor, what follows a list or a state does not count.
            let filter = RESTFilter.comparison(try RESTColumn(parsing: name), operation)
            self = isNegated ? .not(filter) : filter
        }
    }

    /// Parses a node of a tree: a group with its members in parentheses, or a comparison.
    private init(node scanner: inout RESTScanner, depth: Int = 0) throws(RESTFailure) {
        guard depth < 64 else { throw .unparsable("too many levels") }
        scanner.skipSpaces()
        for (prefix, isNegated, isAll) in [
            ("not.and", true, true), ("not.or", true, false), ("and", false, true), ("or", false, false),
        ] where scanner.skip(group: prefix) {
            var members: [RESTFilter] = []
            repeat {
                members.append(try RESTFilter(node: &scanner, depth: depth + 1))
                scanner.skipSpaces()
            } while scanner.skip(",")
            try scanner.demand(")")
            let group: RESTFilter = isAll ? .all(members) : .any(members)
            self = isNegated ? .not(group) : group
            return
        }
        let name = try scanner.name { $0 == "." || $0 == "," || $0 == ")" || $0 == "(" }
        let column = RESTColumn(name, steps: try RESTColumn.steps(&scanner))
        try scanner.demand(".")
        let isNegated = scanner.skip("not.")
        let filter = RESTFilter.comparison(column, try RESTOperation(&scanner, inTree: true))
        self = isNegated ? .not(filter) : filter
    }
}

extension RESTScanner {
    /// Skips the word for a group and its parenthesis; there may be spaces in between.
    fileprivate mutating func skip(group word: String) -> Bool {
        var copy = self
        guard copy.skip(word) else { return false }
        copy.skipSpaces()
        guard copy.skip("(") else { return false }
        self = copy
        return true
    }
}

/// An operator with its operand.
enum RESTOperation: Hashable, Sendable {
    /// With the database's operator.
    case compare(String, String)
    /// With all or any elements of an array, in the database's format.
    case compareMany(String, quantifier: String, String)
    case inList([String])
    /// "null", "true" and so on.
    case isState(String)
    case isDistinct(String)
    /// A full-text search, with the name of the function that parses it.
    case search(function: String, language: String?, String)

    private static let comparisons = [
        "eq": "=", "neq": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "like": "like", "ilike": "ilike",
        "match": "~", "imatch": "~*", "cs": "@>", "cd": "<@", "ov": "&&", "sl": "<<", "sr": ">>", "nxl": "&>",
        "nxr": "&<", "adj": "-|-",
    ]
    private static let searches = [
        "fts": "to_tsquery", "plfts": "plainto_tsquery", "phfts": "phraseto_tsquery", "wfts": "websearch_to_tsquery",
    ]
    private static let states = [
        "null": "null", "not_null": "not null", "true": "true", "false": "false", "unknown": "unknown",
    ]

    /// What is wrong with an operand of `is`.
    static let noState: JSON = "expecting isVal: (null, not_null, true, false, unknown)"

    /// Whether a text is an operation; in function calls all others are arguments.
    static func isOne(_ text: String) -> Bool {
        var scanner = RESTScanner(text)
        _ = scanner.skip("not.")
        return (try? RESTOperation(&scanner, inTree: false)) != nil
    }

    /// - Parameter inTree: Whether the value ends at a comma or parenthesis, and may be quoted.
    init(_ scanner: inout RESTScanner, inTree: Bool) throws(RESTFailure) {
        let name = scanner.take { $0.isLetter }
        var modifier: String?
        if scanner.skip("(") {
            modifier = scanner.take { $0 != ")" }
            try scanner.demand(")")
        }
        try scanner.demand(".")
        switch (name, modifier) {
        case ("in", nil): self = .inList(try Self.list(&scanner))
        case ("is", nil):
            // As with the vendor, a state may be followed by anything.
            let text = scanner.take { $0.isLetter || $0 == "_" }.lowercased()
            guard let state = Self.states.first(where: { inTree ? text == $0.key : text.hasPrefix($0.key) }) else {
                throw .unparsable("is.\(text)", Self.noState.string ?? "")
            }
            self = .isState(state.value)
        case ("isdistinct", nil): self = .isDistinct(try Self.value(&scanner, inTree))
        default:
            if let function = Self.searches[name] {
                self = .search(function: function, language: modifier, try Self.value(&scanner, inTree))
                return
            }
            guard let sign = Self.comparisons[name] else { throw .unparsable("\(name).") }
            var text = try Self.value(&scanner, inTree)
            if sign == "like" || sign == "ilike" { text = String(text.map { $0 == "*" ? "%" : $0 }) }
            guard let modifier else {
                self = .compare(sign, text)
                return
            }
            let takesMany = ["eq", "gt", "gte", "lt", "lte", "like", "ilike", "match", "imatch"].contains(name)
            guard takesMany, modifier == "any" || modifier == "all" else { throw .unparsable("\(name)(\(modifier))") }
            self = .compareMany(sign, quantifier: modifier, text)
        }
    }

    private static func value(_ scanner: inout RESTScanner, _ inTree: Bool) throws(RESTFailure) -> String {
        guard inTree else { return scanner.takeRest() }
        if scanner.peek == "\"" {
            let copy = scanner
            let text = try scanner.quoted()
            // Text that continues after its closing quote was not quoted.
            if scanner.isAtEnd || scanner.peek == "," || scanner.peek == ")" { return text }
            scanner = copy
        }
        if scanner.peek == "{" {
            let text = scanner.take { $0 != "}" }
            try scanner.demand("}")
            return text + "}"
        }
        return scanner.take { $0 != "," && $0 != ")" }
    }

    private static func list(_ scanner: inout RESTScanner) throws(RESTFailure) -> [String] {
        try scanner.demand("(")
        scanner.skipSpaces()
        var elements: [String] = []
        repeat {
            if scanner.peek == "\"" {
                elements.append(try scanner.quoted())
            } else {
                elements.append(scanner.take { $0 != "," && $0 != ")" })
            }
        } while scanner.skip(",")
        try scanner.demand(")")
        return elements == [""] ? [] : elements
    }
}

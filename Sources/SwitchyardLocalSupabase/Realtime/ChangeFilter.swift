import SwitchyardBytes

/// Conditions on the columns of a row: `column=operator.value`, several separated by commas, all of which must hold.
struct ChangeFilter: Sendable {
    struct Mistake: Error {
        let text: String
    }

    struct Clause: Sendable {
        let column: String
        let isNegated: Bool
        let test: String
        let values: [String]
    }

    let clauses: [Clause]

    private static let tests: Set<String> = [
        "eq", "neq", "lt", "lte", "gt", "gte", "in", "is", "isdistinct", "like", "ilike",
    ]

    init(_ text: String) throws(Mistake) {
        var clauses: [Clause] = []
        for part in Self.split(text) { clauses.append(try Self.clause(part)) }
        self.clauses = clauses
    }

    func matches(_ row: JSONObject) -> Bool { clauses.allSatisfy { $0.matches(row[$0.column] ?? .null) } }

    private static func clause(_ text: Substring) throws(Mistake) -> Clause {
        let mistake = Mistake(text: "`\(text)`")
        let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard sides.count == 2, !sides[0].isEmpty else { throw mistake }
        var condition = sides[1]
        let isNegated = condition.hasPrefix("not.")
        if isNegated { condition = condition.dropFirst(4) }
        guard let dot = condition.firstIndex(of: ".") else { throw mistake }
        let test = String(condition[..<dot])
        let value = condition[condition.index(after: dot)...]
        guard tests.contains(test) else { throw mistake }
        guard test == "in" else {
            let values = [unquoted(value)]
            guard test != "is" || ["null", "true", "false", "unknown"].contains(values[0]) else { throw mistake }
            return Clause(column: String(sides[0]), isNegated: isNegated, test: test, values: values)
        }
        guard value.hasPrefix("("), value.hasSuffix(")"), value.count >= 2 else { throw mistake }
        let values = split(String(value.dropFirst().dropLast())).map { unquoted($0) }
        guard values.count <= 100 else { throw Mistake(text: "too many values for `in` filter") }
        return Clause(column: String(sides[0]), isNegated: isNegated, test: test, values: values)
    }

    /// Splits at commas outside of quotes and parentheses.
    private static func split(_ text: String) -> [Substring] {
        var parts: [Substring] = []
        var start = text.startIndex
        var depth = 0
        var isQuoted = false
        var isEscaped = false
        for index in text.indices {
            let letter = text[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, letter == "\\" {
                isEscaped = true
            } else if letter == "\"" {
                isQuoted.toggle()
            } else if !isQuoted, letter == "(" {
                depth += 1
            } else if !isQuoted, letter == ")" {
                depth -= 1
            } else if !isQuoted, depth == 0, letter == "," {
                parts.append(text[start..<index])
                start = text.index(after: index)
            }
        }
        return parts + [text[start...]]
    }

    private static func unquoted(_ text: Substring) -> String {
        guard text.count >= 2, text.first == "\"", text.last == "\"" else { return String(text) }
        var result = ""
        var isEscaped = false
        for letter in text.dropFirst().dropLast() {
            if letter == "\\", !isEscaped {
                isEscaped = true
            } else {
                result.append(letter)
                isEscaped = false
            }
        }
        return result
    }
}

extension ChangeFilter.Clause {
    private static let numbers: Set<String> = ["int2", "int4", "int8", "float4", "float8", "numeric", "oid"]

    /// Whether the values can be cast to a column's type.
    func fits(_ type: String) -> Bool {
        guard test != "is" else { return true }
        if Self.numbers.contains(type) { return values.allSatisfy { Double($0) != nil } }
        if type == "bool" { return values.allSatisfy { ["true", "false", "t", "f"].contains($0) } }
        return true
    }

    func matches(_ value: JSON) -> Bool {
        if test == "is" { return isNegated != holds(is: value) }
        if test == "isdistinct" { return isNegated != (value.isNull || compare(value, values[0]) != 0) }
        // A comparison with null is neither true nor false.
        guard !value.isNull else { return false }
        return isNegated != holds(value)
    }

    private func holds(is value: JSON) -> Bool {
        switch values[0] {
        case "true": value == true
        case "false": value == false
        default: value.isNull
        }
    }

    private func holds(_ value: JSON) -> Bool {
        switch test {
        case "eq": compare(value, values[0]) == 0
        case "neq": compare(value, values[0]) != 0
        case "lt": compare(value, values[0]) < 0
        case "lte": compare(value, values[0]) <= 0
        case "gt": compare(value, values[0]) > 0
        case "gte": compare(value, values[0]) >= 0
        case "in": values.contains { compare(value, $0) == 0 }
        case "like": Self.text(of: value).isLike(values[0])
        case "ilike": Self.text(of: value).lowercased().isLike(values[0].lowercased())
        default: false
        }
    }

    /// Compares numbers by value, times chronologically, and everything else as text.
    private func compare(_ value: JSON, _ text: String) -> Int {
        if let whole = value.int64, let other = Int64(text) { return whole < other ? -1 : whole == other ? 0 : 1 }
        if let number = value.double, let other = Double(text) { return number < other ? -1 : number == other ? 0 : 1 }
        if let flag = value.bool { return flag == (text.first == "t") ? 0 : flag ? 1 : -1 }
        let own = Self.text(of: value)
        if let moment = RFC3339.parse(own), let other = RFC3339.parse(text) {
            return moment == other
                ? 0 : (moment.seconds, moment.nanoseconds) < (other.seconds, other.nanoseconds) ? -1 : 1
        }
        return own == text ? 0 : own.utf8.lexicographicallyPrecedes(text.utf8) ? -1 : 1
    }

    private static func text(of value: JSON) -> String { value.string ?? value.text() }
}

extension String {
    /// Whether it matches a pattern in which `%` stands for any text and `_` for one character.
    fileprivate func isLike(_ pattern: String) -> Bool {
        let letters = Array(self)
        var reachable: Set<Int> = [0]
        for sign in pattern {
            if sign == "%" {
                guard let first = reachable.min() else { return false }
                reachable = Set(first...letters.count)
            } else {
                reachable = Set(
                    reachable.filter { $0 < letters.count && (sign == "_" || letters[$0] == sign) }.map { $0 + 1 })
            }
        }
        return reachable.contains(letters.count)
    }
}

/// The rows whose changes a channel requests.
struct ChangeBinding: Sendable {
    /// The same for identical requests, and sent with each change.
    let id: Int64
    /// The request as it is repeated in the answer to the join.
    let request: JSONObject
    let filter: ChangeFilter?
    /// `nil` for all columns.
    let columns: Set<String>?
    /// The problem with it, in the service's words.
    let problem: String?
    private let event: String
    private let schema: String
    private let table: String

    init(_ request: JSONObject) {
        self.request = request
        id = Int64(CRC32C.checksum(of: JSON.object(request).bytes(JSONWritingOptions(sortsKeys: true))))
        let given = request["event"]?.string ?? "*"
        event = ["INSERT", "UPDATE", "DELETE"].contains(given) ? given : "*"
        schema = request["schema"]?.string ?? "public"
        table = request["table"]?.string ?? "*"
        columns = request["select"]?.array.map { Set($0.compactMap(\.string)) }
        let text = request["filter"]?.string ?? ""
        let names = ["schema", "table", "filter"]
        if names.contains(where: { request[$0] != nil && request[$0]?.string == nil })
            || (request["schema"] == nil && request["table"] == nil)
            || (!text.isEmpty && (request["schema"] == nil || request["table"] == nil))
        {
            filter = nil
            problem = "No subscription params provided. Please provide at least a `schema` or `table` to subscribe to"
            return
        }
        do throws(ChangeFilter.Mistake) {
            filter = text.isEmpty ? nil : try ChangeFilter(text)
            problem = nil
        } catch {
            filter = nil
            problem = "Error parsing `filter` params: \(error.text)"
        }
    }

    /// The answer to the join, with its ID.
    var answer: JSON {
        var answer = request
        answer["id"] = .integer(id)
        return .object(answer)
    }

    /// Its table, if it concerns a single one.
    var tablePath: (schema: String, table: String)? { schema == "*" || table == "*" ? nil : (schema, table) }

    /// Whether it covers a change, ignoring its filter.
    func covers(_ change: RowChange) -> Bool {
        (schema == "*" || schema == change.schema) && (table == "*" || table == change.table)
            && (event == "*" || event == change.kind)
    }

    /// The problem with it for the columns of its table that the role may read.
    func problem(types: [String: String]) -> String? {
        guard let filter, tablePath != nil else { return nil }
        for clause in filter.clauses {
            let text =
                switch types[clause.column] {
                case nil: "invalid column for filter \(clause.column)"
                case let type? where !clause.fits(type): "invalid input syntax for type \(type)"
                default: nil as String?
                }
            if let text { return problem(": " + text) }
        }
        return nil
    }

    /// The message if the database has no such table; an unpublished table counts as missing.
    func problem(_ reason: String) -> String {
        "Unable to subscribe to changes with given parameters. Please check Realtime is enabled for the given connect "
            + "parameters: [event: \(event), schema: \(schema), table: \(table), "
            + "filters: \(request["filter"]?.string ?? "")]\(reason)"
    }
}

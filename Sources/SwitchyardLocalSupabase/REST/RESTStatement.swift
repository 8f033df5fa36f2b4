/// Builds a statement. Names are quoted, and everything else from a request is a parameter.
struct RESTStatement {
    private(set) var parameters: [String?] = []
    /// The alias of the rows.
    let alias: String
    /// The allowed columns with their types; `nil` to leave the check to the database.
    let columns: [String: String]?
    /// The columns whose values have another form outside of the database.
    private let representations: [String: RESTRepresentation]
    /// All columns, in their order, where some have another form outside.
    private let represented: [String]
    /// The name of the rows in messages.
    private let label: String
    /// The related rows, which conditions and orders can refer to.
    var joins: [RESTJoin] = []

    init(
        alias: String, columns: [String: String]? = nil, parameters: [String?] = [], label: String? = nil,
        representations: [String: RESTRepresentation] = [:], of names: [String] = []
    ) {
        self.alias = alias
        self.columns = columns
        self.parameters = parameters
        self.label = label ?? alias
        self.representations = representations
        represented = representations.isEmpty ? [] : names
    }

    /// A statement about rows of a table.
    init(_ table: RESTTable) {
        self.init(
            alias: table.name, columns: table.readable, representations: table.representations,
            of: table.columns.map(\.name))
    }

    /// Continues with the parameters of a part that was begun with those of this statement.
    mutating func adopt(_ part: RESTStatement) { parameters = part.parameters }

    static func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    /// Adds a parameter.
    mutating func bind(_ value: String) -> String {
        parameters.append(value)
        return "$\(parameters.count)"
    }

    mutating func column(_ column: RESTColumn) throws(RESTFailure) -> String {
        if let columns, columns[column.name] == nil {
            throw RESTFailure(400, "42703", "column \(label).\(column.name) does not exist")
        }
        var text = "\(Self.quoted(alias)).\(Self.quoted(column.name))"
        guard !column.steps.isEmpty else { return text }
        if let type = columns?[column.name], type != "json", type != "jsonb" { text = "to_jsonb(\(text))" }
        for step in column.steps {
            text += step.isText ? "->>" : "->"
            switch step.key {
            case .index(let index): text += "(\(index))"
            case .name(let name): text += bind(name) + "::text"
            }
        }
        return "(\(text))"
    }

    // MARK: Conditions

    /// The conjunction of the conditions, or `true`.
    mutating func conditions(_ filters: [RESTFilter]) throws(RESTFailure) -> String {
        var parts: [String] = []
        for filter in filters { parts.append(try condition(filter)) }
        return parts.isEmpty ? "true" : parts.joined(separator: " and ")
    }

    private mutating func condition(_ filter: RESTFilter) throws(RESTFailure) -> String {
        switch filter {
        case .not(let inner): return "not (\(try condition(inner)))"
        case .all(let members): return "(\(try group(members, " and ")))"
        case .any(let members): return "(\(try group(members, " or ")))"
        case .comparison(let column, .isState("null")) where column.steps.isEmpty && joined(column.name) != nil:
            // Without related rows, the join gives nothing at all.
            return "\(Self.quoted(joined(column.name) ?? "")) is not distinct from null"
        case .comparison(let column, let operation):
            let left = searchable(try self.column(column), column, operation)
            let parser = column.steps.isEmpty ? representations[column.name]?.fromText : nil
            if let parser, let text = parsed(left, operation, by: parser) { return text }
            return try comparison(left, operation)
        }
    }

    /// A value in the form that an operation needs: all but lists of words are split into words before they are searched.
    private mutating func searchable(_ value: String, _ column: RESTColumn, _ operation: RESTOperation) -> String {
        guard case .search(_, let language, _) = operation,
            !column.steps.isEmpty || columns?[column.name] != "tsvector"
        else { return value }
        return "to_tsvector(\(language.map { bind($0) + "::regconfig, " } ?? "")\(value))"
    }

    /// A comparison with values that a function makes of text; `nil` for operations that take the text itself.
    private mutating func parsed(_ left: String, _ operation: RESTOperation, by parser: String) -> String? {
        switch operation {
        case .compare(let sign, let text) where !sign.hasSuffix("like"):
            "\(left) \(sign) \(parser)(\(bind(text))::text)"
        case .inList(let elements):
            "\(left) = any (select \(parser)(unnest(\(bind(Self.array(elements)))::text[])))"
        default: nil
        }
    }

    private func joined(_ name: String) -> String? { joins.first { $0.embedding.label == name }?.result }

    private mutating func group(_ members: [RESTFilter], _ word: String) throws(RESTFailure) -> String {
        var parts: [String] = []
        for member in members { parts.append(try condition(member)) }
        return parts.joined(separator: word)
    }

    private mutating func comparison(_ left: String, _ operation: RESTOperation) throws(RESTFailure) -> String {
        switch operation {
        case .compare(let sign, let text): return "\(left) \(sign) \(bind(text))"
        case .compareMany(let sign, let quantifier, let text):
            let pattern = sign == "like" || sign == "ilike"
            return "\(left) \(sign) \(quantifier)(\(bind(text))\(pattern ? "::text[]" : ""))"
        case .inList(let elements): return "\(left) = any(\(bind(Self.array(elements))))"
        case .isState(let state): return "\(left) is \(state)"
        case .isDistinct(let text): return "\(left) is distinct from \(bind(text))"
        case .search(let function, let language, let text):
            let language = language.map { bind($0) + "::regconfig, " } ?? ""
            return "\(left) @@ \(function)(\(language)\(bind(text)))"
        }
    }

    /// An array in the database's format.
    static func array(_ elements: [String]) -> String {
        let parts = elements.map { element in
            "\""
                + element.reduce(into: "") { text, letter in
                    if letter == "\"" || letter == "\\" { text.append("\\") }
                    text.append(letter)
                } + "\""
        }
        return "{" + parts.joined(separator: ",") + "}"
    }

    // MARK: Results

    mutating func items(_ selection: RESTSelection) throws(RESTFailure) -> String {
        var parts: [String] = []
        for item in selection.items {
            guard let item else {
                parts += try everything()
                continue
            }
            if let aggregate = item.aggregate {
                let value = item.column.name.isEmpty ? "*" : try self.value(of: item)
                let label = Self.quoted(item.alias ?? aggregate.function)
                parts.append("\(Self.cast("\(aggregate.function)(\(value))", to: aggregate.cast)) as \(label)")
            } else {
                parts.append("\(try value(of: item)) as \(Self.quoted(item.alias ?? item.column.label))")
            }
        }
        return (parts + joinedItems()).joined(separator: ", ")
    }

    /// All columns, those with another form outside in that form.
    private mutating func everything() throws(RESTFailure) -> [String] {
        guard !represented.isEmpty else { return ["\(Self.quoted(alias)).*"] }
        var parts: [String] = []
        for name in represented {
            let item = RESTSelection.Item(column: RESTColumn(name), alias: nil, cast: nil)
            parts.append("\(try value(of: item)) as \(Self.quoted(name))")
        }
        return parts
    }

    /// The grouping by all columns beside values over several rows.
    mutating func grouping(_ selection: RESTSelection) throws(RESTFailure) -> String {
        guard selection.hasAggregates else { return "" }
        var parts: [String] = []
        for case let item? in selection.items where item.aggregate == nil { parts.append(try value(of: item)) }
        return parts.isEmpty ? "" : " group by " + parts.joined(separator: ", ")
    }

    private mutating func value(of item: RESTSelection.Item) throws(RESTFailure) -> String {
        var value = isCount(item.column) ? "\(Self.quoted(alias)).\"count\"" : try column(item.column)
        if item.column.steps.isEmpty, item.aggregate == nil, let formatter = representations[item.column.name]?.toJSON {
            value = "\(formatter)(\(value))"
        }
        return Self.cast(value, to: item.cast)
    }

    private static func cast(_ value: String, to type: String?) -> String {
        type.map { "cast(\(value) as \($0))" } ?? value
    }

    /// The database counts the rows if `count` is not a column.
    private func isCount(_ column: RESTColumn) -> Bool {
        column.name == "count" && column.steps.isEmpty && columns.map { $0["count"] == nil } ?? false
    }

    mutating func order(_ keys: [RESTOrder]) throws(RESTFailure) -> String {
        guard !keys.isEmpty else { return "" }
        var parts: [String] = []
        for key in keys {
            let nulls = key.nullsFirst.map { $0 ? " nulls first" : " nulls last" } ?? ""
            let value: String
            if let relation = key.relation {
                value = try joinedColumn(key.column, of: relation)
            } else {
                value = try column(key.column)
            }
            parts.append("\(value)\(key.isDescending ? " desc" : " asc")\(nulls)")
        }
        return " order by " + parts.joined(separator: ", ")
    }
}

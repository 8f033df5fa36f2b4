extension Query: CustomStringConvertible, CustomDebugStringConvertible {
    /// The query without the values that it compares with: `users where age >= … and city == …, by age descending, first 20`.
    public var description: String {
        var parts = [filter.map { "\(source) where \($0)" } ?? "\(source)"]
        if !orders.isEmpty { parts.append("by " + orders.map(\.description).joined(separator: ", ")) }
        if let limit { parts.append("\(limit)") }
        if offset > 0 { parts.append("without the first \(offset)") }
        if start != nil { parts.append("from a cursor") }
        if end != nil { parts.append("up to a cursor") }
        if let projection { parts.append("only " + projection.map { "\($0)" }.joined(separator: ", ")) }
        if let problem { parts.append("mistake: \(problem)") }
        return parts.joined(separator: ", ")
    }
    public var debugDescription: String { "Query(\(description))" }
}

extension Query.Source: CustomStringConvertible {
    public var description: String {
        switch self {
        case .collection(let collection): "\(collection)"
        case .group(let id, let ancestor?): "all “\(id)” below \(ancestor)"
        case .group(let id, nil): "all “\(id)”"
        }
    }
}

extension Query.Order: CustomStringConvertible {
    public var description: String { "\(field)\(direction == .descending ? " descending" : "")" }
}

extension Query.Limit: CustomStringConvertible {
    public var description: String {
        switch self {
        case .first(let count): "first \(count)"
        case .last(let count): "last \(count)"
        }
    }
}

extension Query.Cursor: CustomStringConvertible, CustomDebugStringConvertible {
    /// Leaves out the position, which is document contents.
    public var description: String {
        "\(values.count) value\(values.count == 1 ? "" : "s"), \(isInclusive ? "included" : "excluded")"
    }
    public var debugDescription: String { "Cursor(\(description))" }
}

extension Filter: CustomStringConvertible, CustomDebugStringConvertible {
    /// Fields and operators, never the values that are compared with.
    public var description: String {
        switch self {
        case .comparison(let field, let operation, _): "\(field) \(operation.rawValue) …"
        case .test(let field, let test): "\(field) \(test.rawValue)"
        case .all(let filters): filters.map(\.nested).joined(separator: " and ")
        case .any(let filters): filters.map(\.nested).joined(separator: " or ")
        }
    }
    public var debugDescription: String { "Filter(\(description))" }

    private var nested: String {
        switch self {
        case .comparison, .test: description
        case .all, .any: "(\(self))"
        }
    }
}

extension TypedDocument: CustomStringConvertible, CustomDebugStringConvertible {
    /// The path.
    public var description: String { path.description }
    public var debugDescription: String { "TypedDocument(\(description))" }
}

extension TypedCollection: CustomStringConvertible, CustomDebugStringConvertible {
    /// The path.
    public var description: String { path.description }
    public var debugDescription: String { "TypedCollection(\(description))" }
}

extension TypedQuery: CustomStringConvertible, CustomDebugStringConvertible {
    /// The query, without the values that it compares with.
    public var description: String { query.description }
    public var debugDescription: String { "TypedQuery(\(description))" }
}

extension QueryHandle: CustomStringConvertible, CustomDebugStringConvertible {
    /// The query, without the values that it compares with.
    public var description: String { query.description }
    public var debugDescription: String { "QueryHandle(\(description))" }
}

/// A typed query without a client: a value to declare where there is no client yet, and to run by one later.
///
/// ```swift
/// let open = CollectionPath("todos").of(Todo.self).where { $0.done == false }
/// for try await list in open.in(storage).stream() { print(list.count) }
/// ```
/// It has the steps of ``TypedQuery``. Queries are equal if they ask for the same documents, however they decode them.
public struct UnboundQuery<Value: Sendable>: QuerySteps, Sendable {
    public let query: Query
    let converter: DocumentConverter<Value>

    /// The query as `storage` runs it.
    public func `in`(_ storage: any StorageClient) -> TypedQuery<Value> {
        TypedQuery(storage: storage, query: query, converter: converter)
    }

    public func narrowed(by step: (Query) -> Query) -> UnboundQuery<Value> {
        UnboundQuery(query: step(query), converter: converter)
    }

    // MARK: Steps with properties instead of names; a property that stands for no field is a mistake of the query.

    /// Only documents that meet a condition: `where { $0.done == false && $0.priority >= 2 }`.
    public func `where`<Predicate: QueryPredicate<Value>>(
        _ predicate: (QueryFields<Value>) -> Predicate
    ) -> UnboundQuery<Value> {
        narrowed { converter.narrowing($0, to: predicate(QueryFields()).condition) }
    }

    /// Only documents whose property compares to `value` like this: `where(\.done, .equal, false)`.
    public func `where`<Field: Encodable>(
        _ property: KeyPath<Value, Field>, _ operation: Filter.Operator, _ value: Field
    ) -> UnboundQuery<Value> {
        narrowed { converter.comparing($0, property, operation, value) }
    }

    /// Only documents whose property passes `test`: `where(\.done, .isNotNull)`.
    public func `where`(_ property: PartialKeyPath<Value>, _ test: Filter.Test) -> UnboundQuery<Value> {
        narrowed { converter.testing($0, property, test) }
    }

    /// Sorted by `property`, after earlier orders. Documents without the field are left out.
    public func ordered(
        by property: PartialKeyPath<Value>, _ direction: Query.Direction = .ascending
    ) -> UnboundQuery<Value> {
        narrowed { converter.ordering($0, by: property, direction) }
    }
}

extension UnboundQuery: Hashable {
    public static func == (left: Self, right: Self) -> Bool { left.query == right.query }
    public func hash(into hasher: inout Hasher) { hasher.combine(query) }
}

extension UnboundQuery: CustomStringConvertible, CustomDebugStringConvertible {
    /// The query, without the values that it compares with.
    public var description: String { query.description }
    public var debugDescription: String { "UnboundQuery(\(description))" }
}

extension TypedQuery {
    /// The same query without its client.
    package var unbound: UnboundQuery<Value> { UnboundQuery(query: query, converter: converter) }
}

extension Query {
    /// The query, its documents as values of a `Codable` type.
    public func of<Value: Codable & Sendable>(
        _ type: Value.Type, by coder: DocumentCoder = .standard
    ) -> UnboundQuery<Value> { UnboundQuery(query: self, converter: DocumentConverter(coder)) }

    /// The query, its documents as values of a type with its own conversion.
    public func of<Value: DocumentConvertible>(_ type: Value.Type) -> UnboundQuery<Value> {
        UnboundQuery(query: self, converter: .own)
    }

    /// For a type that is both, uses its own conversion.
    public func of<Value: DocumentConvertible & Codable>(_ type: Value.Type) -> UnboundQuery<Value> {
        UnboundQuery(query: self, converter: .own)
    }
}

extension CollectionPath {
    /// All documents of the collection, as values of a `Codable` type.
    public func of<Value: Codable & Sendable>(
        _ type: Value.Type, by coder: DocumentCoder = .standard
    ) -> UnboundQuery<Value> { Query(in: self).of(type, by: coder) }

    /// All documents of the collection, as values of a type with its own conversion.
    public func of<Value: DocumentConvertible>(_ type: Value.Type) -> UnboundQuery<Value> { Query(in: self).of(type) }

    /// For a type that is both, uses its own conversion.
    public func of<Value: DocumentConvertible & Codable>(_ type: Value.Type) -> UnboundQuery<Value> {
        Query(in: self).of(type)
    }
}

/// A query whose results are values of one type, with the client that runs it.
public struct TypedQuery<Value: Sendable>: TypedQuerySource {
    public typealias Narrowed = TypedQuery<Value>
    public let storage: any StorageClient
    public let query: Query
    let converter: DocumentConverter<Value>

    public var typed: TypedQuery<Value> { self }

    /// The collection that the query reads; `nil` for a collection group.
    package var collection: TypedCollection<Value>? {
        guard case .collection(let path) = query.source else { return nil }
        return TypedCollection(storage: storage, path: path, converter: converter)
    }
}

/// A list of values: a typed collection, or a query over one.
public protocol TypedQuerySource<Value>: QuerySource {
    associatedtype Value: Sendable
    /// This list as a query.
    var typed: TypedQuery<Value> { get }
}

extension TypedQuerySource {
    public func narrowed(by step: (Query) -> Query) -> TypedQuery<Value> {
        TypedQuery(storage: storage, query: step(query), converter: typed.converter)
    }

    // MARK: Reading

    /// The results now: a collection of values in order.
    ///
    /// - Throws: `.codingFailed` naming the first document that does not fit, and its field, unless `onMismatch` skips it.
    public func documents(
        from source: ReadSource = .standard, onMismatch: MismatchHandling = .fail
    ) async throws(StorageError) -> TypedSnapshot<Value> {
        try TypedSnapshot(await storage.documents(query, from: source), onMismatch, origin)
    }

    /// The first result, if there is one. Reads no more than that.
    public func first() async throws(StorageError) -> Value? {
        guard let document = try await storage.first(of: query) else { return nil }
        return try typed.converter.decode(document)
    }

    /// The results, now and after every change: each element is a collection of values that knows which of them are only
    /// cached and which wait to be saved.
    public func stream(
        _ options: ListenOptions = ListenOptions(), onMismatch: MismatchHandling = .fail
    ) -> SnapshotStream<TypedSnapshot<Value>, StorageError> {
        storage.snapshots(of: query, options: options).mapElements { [origin] snapshot throws(StorageError) in
            try TypedSnapshot(snapshot, onMismatch, origin)
        }
    }

    var origin: RowOrigin<Value> { RowOrigin(storage, typed.converter) }

    /// The same list without the type.
    public var asDocuments: QueryHandle { QueryHandle(storage: storage, query: query) }

    // MARK: Steps with properties instead of names; a property that stands for no field is a mistake of the query.

    /// Only documents that meet a condition: `where { $0.done == false && $0.priority >= 2 }`; see ``QueryFields``.
    public func `where`<Predicate: QueryPredicate<Value>>(
        _ predicate: (QueryFields<Value>) -> Predicate
    ) -> TypedQuery<Value> {
        narrowed { typed.converter.narrowing($0, to: predicate(QueryFields()).condition) }
    }

    /// Only documents whose property compares to `value` like this: `where(\.done, .equal, false)`.
    public func `where`<Field: Encodable>(
        _ property: KeyPath<Value, Field>, _ operation: Filter.Operator, _ value: Field
    ) -> TypedQuery<Value> { compare(property, operation, value) }

    /// Only documents whose property is, or is not, one of `values`: `where(\.state, .in, [.open, .late])`.
    public func `where`<Field: Encodable>(
        _ property: KeyPath<Value, Field>, _ operation: Filter.Operator, _ values: [Field]
    ) -> TypedQuery<Value> { compare(property, operation, values) }

    /// Only documents whose list has `element`: `where(\.tags, .arrayContains, "new")`.
    public func `where`<Element: Encodable>(
        _ property: KeyPath<Value, [Element]>, _ operation: Filter.Operator, _ element: Element
    ) -> TypedQuery<Value> { compare(property, operation, element) }

    /// Only documents whose property passes `test`: `where(\.done, .isNotNull)`.
    public func `where`(_ property: PartialKeyPath<Value>, _ test: Filter.Test) -> TypedQuery<Value> {
        narrowed { typed.converter.testing($0, property, test) }
    }

    /// Sorted by `property`, after earlier orders. Documents without the field are left out.
    public func ordered(
        by property: PartialKeyPath<Value>, _ direction: Query.Direction = .ascending
    ) -> TypedQuery<Value> {
        narrowed { typed.converter.ordering($0, by: property, direction) }
    }

    /// The sum of the numbers in `property`; 0 if there are none.
    public func sum(of property: any PartialKeyPath<Value> & Sendable) async throws(StorageError) -> Double {
        try await sum(of: typed.converter.field(property))
    }

    /// The mean of the numbers in `property`; `nil` if there are none.
    public func average(of property: any PartialKeyPath<Value> & Sendable) async throws(StorageError) -> Double? {
        try await average(of: typed.converter.field(property))
    }

    private func compare(
        _ property: PartialKeyPath<Value>, _ operation: Filter.Operator, _ operand: some Encodable
    ) -> TypedQuery<Value> {
        narrowed { typed.converter.comparing($0, property, operation, operand) }
    }
}

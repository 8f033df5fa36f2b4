/// A collection whose documents are all of one type.
///
/// ```swift
/// let users = storage.typed(User.self, in: "users")
/// try await users.set("alice", alice)
/// let adults = try await users.results { query throws(StorageError) in try query.where("age", .greaterThan, 17) }
/// for try await user in users.stream("alice") { … }
/// ```
/// A document that does not fit the type throws `.codingFailed`, naming document and field; from a stream, that is its end.
public struct TypedCollection<Value: Sendable>: Sendable {
    /// Narrows the query over the whole collection.
    public typealias Narrowing = (Query) throws(StorageError) -> Query

    public let storage: any StorageClient
    public let path: CollectionPath
    let converter: DocumentConverter<Value>

    /// All documents of the collection, to be narrowed.
    public var query: Query { Query(in: path) }

    // MARK: Reading

    /// The document called `id`; `nil` if it does not exist.
    public func get(_ id: String, from source: ReadSource = .standard) async throws(StorageError) -> Value? {
        try value(await storage.document(path.document(id), from: source))
    }

    /// All results, in order; without `narrowing`, all documents of the collection by name.
    public func results(_ narrowing: Narrowing = { $0 }) async throws(StorageError) -> [Value] {
        try await results(of: narrowing(query))
    }

    public func results(of query: Query) async throws(StorageError) -> [Value] {
        try values(await storage.documents(query))
    }

    public func count(_ narrowing: Narrowing = { $0 }) async throws(StorageError) -> Int {
        try await storage.count(narrowing(query))
    }

    /// The document called `id`, now and after every change; `nil` while it does not exist.
    public func stream(_ id: String) -> SnapshotStream<Value?, StorageError> {
        let document: StoragePath
        do throws(StorageError) {
            document = try path.document(id)
        } catch {
            return .failing(error)
        }
        return storage.snapshots(of: document).mapElements { snapshot throws(StorageError) in try value(snapshot) }
    }

    /// All results, in order, now and after every change.
    public func stream(_ narrowing: Narrowing = { $0 }) -> SnapshotStream<[Value], StorageError> {
        do throws(StorageError) {
            return try stream(of: narrowing(query))
        } catch {
            return .failing(error)
        }
    }

    public func stream(of query: Query) -> SnapshotStream<[Value], StorageError> {
        storage.snapshots(of: query).mapElements { snapshot throws(StorageError) in try values(snapshot) }
    }

    // MARK: Writing

    /// Replaces the document called `id`, or creates it.
    @discardableResult
    public func set(_ id: String, _ value: Value) async throws(StorageError) -> WriteReceipt {
        try await storage.setDocument(path.document(id), converter.encode(value))
    }

    /// Adds a document with a new random name.
    ///
    /// - Returns: Its name.
    @discardableResult
    public func add(_ value: Value) async throws(StorageError) -> String {
        try await storage.addDocument(to: path, converter.encode(value)).id
    }

    /// Creates the document called `id`; `.alreadyExists` if it is there (with a queue, on the receipt).
    @discardableResult
    public func create(_ id: String, _ value: Value) async throws(StorageError) -> WriteReceipt {
        try await storage.createDocument(path.document(id), converter.encode(value))
    }

    /// Writes the fields of `value`, nested ones one by one, and leaves others alone.
    @discardableResult
    public func merge(_ id: String, _ value: Value) async throws(StorageError) -> WriteReceipt {
        try await storage.mergeDocument(path.document(id), converter.encode(value))
    }

    /// Writes single fields; `.notFound` if the document is missing (with a queue, on the receipt).
    @discardableResult
    public func update(_ id: String, _ updates: FieldUpdates) async throws(StorageError) -> WriteReceipt {
        try await storage.updateDocument(path.document(id), updates)
    }

    @discardableResult
    public func delete(_ id: String) async throws(StorageError) -> WriteReceipt {
        try await storage.deleteDocument(path.document(id))
    }

    // MARK: Snapshots

    /// A document read elsewhere as a value; `nil` if it does not exist.
    public func value(_ document: DocumentSnapshot) throws(StorageError) -> Value? {
        document.exists ? try converter.decode(document) : nil
    }

    /// A result read elsewhere as values, in order.
    public func values(_ snapshot: QuerySnapshot) throws(StorageError) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(snapshot.count)
        for document in snapshot.documents { values.append(try converter.decode(document)) }
        return values
    }
}

extension StorageClient {
    /// The documents of `collection` as values of a `Codable` type.
    public func typed<Value: Codable & Sendable>(
        _ type: Value.Type, in collection: CollectionPath, by coder: DocumentCoder = .standard
    ) -> TypedCollection<Value> {
        TypedCollection(storage: self, path: collection, converter: DocumentConverter(coder))
    }

    /// The documents of `collection` as values of a type with its own conversion.
    public func typed<Value: DocumentConvertible>(
        _ type: Value.Type, in collection: CollectionPath
    ) -> TypedCollection<Value> {
        TypedCollection(storage: self, path: collection, converter: .own)
    }

    /// For a type that is both, its own conversion counts.
    public func typed<Value: DocumentConvertible & Codable>(
        _ type: Value.Type, in collection: CollectionPath
    ) -> TypedCollection<Value> {
        TypedCollection(storage: self, path: collection, converter: .own)
    }
}

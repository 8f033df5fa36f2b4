/// Something that can be read as a list: a handle of a collection, a collection group or a query.
///
/// A handle is just a ``StorageClient`` and a place: nothing is read or opened until you call an operation.
public protocol QuerySource: QuerySteps, Sendable {
    var storage: any StorageClient { get }
    var query: Query { get }
}

extension QuerySource {
    /// The number of results on the server, counted there if possible. `.unavailable` without a connection.
    public func count() async throws(StorageError) -> Int { try await storage.count(query) }

    /// The sum of the numbers in `field`; 0 if there are none.
    public func sum(of field: FieldPath) async throws(StorageError) -> Double {
        try await storage.sum(of: field, in: query)
    }

    /// The mean of the numbers in `field`; `nil` if there are none.
    public func average(of field: FieldPath) async throws(StorageError) -> Double? {
        try await storage.average(of: field, in: query)
    }
}

/// A list of untyped documents.
public protocol DocumentQuerySource: QuerySource {}

extension DocumentQuerySource {
    public func narrowed(by step: (Query) -> Query) -> QueryHandle { QueryHandle(storage: storage, query: step(query)) }

    /// The results now.
    public func documents(from source: ReadSource = .standard) async throws(StorageError) -> QuerySnapshot {
        try await storage.documents(query, from: source)
    }

    /// The results now, as values.
    ///
    /// - Throws: `.codingFailed` naming the first document that does not fit, and its field, unless `onMismatch` skips it.
    public func documents<Value: Decodable & Sendable>(
        of type: Value.Type, from source: ReadSource = .standard, by coder: DocumentCoder = .standard,
        onMismatch: MismatchHandling = .fail
    ) async throws(StorageError) -> TypedSnapshot<Value> {
        try TypedSnapshot(
            await storage.documents(query, from: source), onMismatch,
            RowOrigin(storage, DocumentConverter(reading: type, by: coder)))
    }

    /// The first result, if there is one. Reads no more than that.
    public func first() async throws(StorageError) -> DocumentSnapshot? { try await storage.first(of: query) }

    /// The results, now and after every change.
    public func stream(_ options: ListenOptions = ListenOptions()) -> SnapshotStream<QuerySnapshot, StorageError> {
        storage.snapshots(of: query, options: options)
    }

    /// The results in pages of `size` documents, each read on demand.
    public func pages(size: Int, from source: ReadSource = .standard) -> DocumentPages {
        storage.pages(of: query, size: size, from: source)
    }

    /// Calls `body` for each result, reading a page at a time.
    ///
    /// - Parameters:
    ///   - parallel: How many results are processed at the same time.
    ///   - pageSize: How many documents are read at once.
    ///   - source: Where they are read.
    ///   - body: Its first error ends the iteration. It is thrown after the calls in progress have ended.
    public func forEach(
        parallel: Int = 1, pageSize: Int = 100, from source: ReadSource = .standard,
        _ body: @escaping @Sendable (DocumentSnapshot) async throws -> Void
    ) async throws {
        try await PageWorker(parallel: parallel, body).run(pages(size: pageSize, from: source)) { $0.documents }
    }
}

/// A query with the client that runs it; the result of a step on a collection.
public struct QueryHandle: DocumentQuerySource {
    public typealias Narrowed = QueryHandle
    public let storage: any StorageClient
    public let query: Query

    init(storage: any StorageClient, query: Query) {
        self.storage = storage
        self.query = query
    }

    /// The same query, its documents as values of a `Codable` type.
    public func of<Value: Codable & Sendable>(
        _ type: Value.Type, by coder: DocumentCoder = .standard
    ) -> TypedQuery<Value> { TypedQuery(storage: storage, query: query, converter: DocumentConverter(coder)) }
}

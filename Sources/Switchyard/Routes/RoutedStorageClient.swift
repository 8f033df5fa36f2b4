/// A storage client that forwards every call along its route.
///
/// ```swift
/// struct Counted: RoutedStorageClient {
///     let route: any Route<any StorageClient>
///     let count: Counter
///     func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt { … }   // what it does differently
/// }
/// ```
/// This is the only place that forwards every requirement: a wrapper that forgot one with a default would compile, but
/// silently lose the wrapped client's better implementation.
public protocol RoutedStorageClient: StorageClient {
    var route: any Route<any StorageClient> { get }
}

extension RoutedStorageClient {
    public var provider: InfrastructureProvider { route.client?.provider ?? .nobody }
    public var capabilities: StorageCapabilities { route.client?.capabilities ?? StorageCapabilities() }
    public var clock: any Clock<Duration> { route.client?.clock ?? ContinuousClock() }

    public func newDocument(in collection: CollectionPath) -> StoragePath {
        route.client?.newDocument(in: collection) ?? collection.newDocument()
    }

    public func document(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        try path.checked()
        return try await route.call(.repeatable("document", .reading(path))) {
            storage throws(StorageError) in
            try await storage.document(path, from: source)
        }
    }
    public func documents(
        _ paths: [StoragePath], from source: ReadSource
    ) async throws(StorageError) -> [DocumentSnapshot] {
        for path in paths { try path.checked() }
        return try await route.call(.repeatable("documents", paths.reading)) { storage throws(StorageError) in
            try await storage.documents(paths, from: source)
        }
    }
    public func documents(_ query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        try query.checked()
        return try await route.call(.repeatable("query", .querying(query))) {
            storage throws(StorageError) in
            try await storage.documents(query, from: source)
        }
    }
    public func snapshots(
        of path: StoragePath, options: ListenOptions
    ) -> SnapshotStream<DocumentSnapshot, StorageError> {
        if let mistake = path.mistake { return .failing(mistake) }
        return route.snapshots(ClientOperation("document stream", .following(path))) {
            $0.snapshots(of: path, options: options)
        }
    }
    public func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError> {
        if let mistake = query.mistake { return .failing(mistake) }
        return route.snapshots(
            ClientOperation("query stream", .following(query)), rebase: { $1.rebased(on: $0) }
        ) {
            $0.snapshots(of: query, options: options)
        }
    }
    public func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        try batch.checked()
        return try await route.call(batch.operation) {
            storage throws(StorageError) in try await storage.commit(batch)
        }
    }
    /// All attempts use the client of the first one.
    public func transaction<Result: Sendable>(
        _ options: TransactionOptions, _ body: @Sendable (StorageTransaction) async throws -> Result
    ) async throws(StorageError) -> Result {
        try await route.call("transaction") { storage throws(StorageError) in
            try await storage.transaction(options, body)
        }
    }
    public func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        try await route.call("transaction attempt", keeping: { LeasedTransaction(backend: $0, release: $1) }) {
            storage throws(StorageError) in try await storage.makeTransaction()
        }
    }
    public func aggregate(
        _ query: Query, _ aggregations: [Aggregation]
    ) async throws(StorageError) -> [DocumentValue] {
        try query.checked()
        return try await route.call(.repeatable("aggregate", .querying(query))) {
            storage throws(StorageError) in
            try await storage.aggregate(query, aggregations)
        }
    }
    public func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        try document?.checked()
        let subject = document.map { ClientOperation.Subject("Listing the collections of", $0.rawValue) }
        return try await route.call(.repeatable("collections", subject)) { storage throws(StorageError) in
            try await storage.collections(under: document)
        }
    }
    public func dividers(ofGroup group: String, into count: Int) async throws(StorageError) -> [StoragePath] {
        try Query(group: group).checked()
        return try await route.call(.repeatable("dividers", .init("Dividing", group))) { storage throws(StorageError) in
            try await storage.dividers(ofGroup: group, into: count)
        }
    }
    /// Not repeated as a whole, since it reports its progress.
    public func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        try document.checked()
        return try await route.call(ClientOperation("delete recursively", .init("Deleting", document.rawValue))) {
            storage throws(StorageError) in
            try await storage.deleteRecursively(document, progress: progress)
        }
    }

    public func enableNetwork() async throws(StorageError) {
        try await route.call("enable network") { storage throws(StorageError) in try await storage.enableNetwork() }
    }
    public func disableNetwork() async throws(StorageError) {
        try await route.call("disable network") { storage throws(StorageError) in try await storage.disableNetwork() }
    }
    public func waitForPendingWrites() async throws(StorageError) {
        try await route.call("wait for pending writes") { storage throws(StorageError) in
            try await storage.waitForPendingWrites()
        }
    }
    public func snapshotsInSync() -> EventStream<Void, StorageError> {
        route.events("snapshots in sync") { $0.snapshotsInSync() }
    }
    public func pendingWrites() -> SnapshotStream<[PendingWrite], StorageError> {
        route.snapshots("pending writes") { $0.pendingWrites() }
    }
    public func cancelPendingWrite(_ id: PendingWrite.ID) async throws(StorageError) -> Bool {
        try await route.call("cancel pending write") { storage throws(StorageError) in
            try await storage.cancelPendingWrite(id)
        }
    }
    public func retryPendingWrites() async throws(StorageError) {
        try await route.call("retry pending writes") { storage throws(StorageError) in
            try await storage.retryPendingWrites()
        }
    }
    public func refusedWrites() -> SnapshotStream<[RefusedWrite], StorageError> {
        route.snapshots("refused writes") { $0.refusedWrites() }
    }
    public func resolveRefusedWrite(_ id: RefusedWrite.ID, requeuing batch: WriteBatch?) async throws(StorageError) {
        try batch?.checked()
        try await route.call("resolve refused write") { storage throws(StorageError) in
            try await storage.resolveRefusedWrite(id, requeuing: batch)
        }
    }
    public func clearPersistence() async throws(StorageError) {
        try await route.call("clear persistence") { storage throws(StorageError) in
            try await storage.clearPersistence()
        }
    }

    public func shutDown() async { await route.client?.shutDown() }
    public func unwrapped<Client>(as type: Client.Type) -> Client? {
        self as? Client ?? route.client?.unwrapped(as: type)
    }
}

extension Routed: StorageClient, RoutedStorageClient where Client == any StorageClient {}

/// A storage client around another. Calls that it does not implement itself go to its ``base``, streams included.
public protocol StorageClientWrapper: RoutedStorageClient {
    /// The wrapped client, to which calls are forwarded. It should stay the same for as long as the layer lives.
    var base: any StorageClient { get }
}

extension StorageClientWrapper {
    public var route: any Route<any StorageClient> { DirectRoute(base) }
}

extension QuerySnapshot {
    /// The same results, with changes relative to `last`.
    fileprivate func rebased(on last: QuerySnapshot) -> QuerySnapshot {
        QuerySnapshot(
            query: query, documents: documents,
            changes: isReordered || last.isReordered
                ? ListDifference.changesByPosition(from: last.documents, to: documents)
                : ListDifference.changes(from: last.documents, to: documents, by: QueryEvaluator(query)),
            metadata: metadata, isReordered: isReordered || last.isReordered)
    }
}

/// A transaction attempt that keeps the client it began on.
private struct LeasedTransaction: StorageTransactionBackend {
    let backend: any StorageTransactionBackend
    let release: @Sendable () -> Void

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot] {
        try await backend.documents(paths)
    }

    func commit(_ writes: [DocumentWrite]) async throws(StorageError) -> WriteReceipt.Acknowledgement {
        let acknowledgement = try await backend.commit(writes)
        release()
        return acknowledgement
    }

    func rollBack() async {
        await backend.rollBack()
        release()
    }
}

extension ClientOperation.Subject {
    static func reading(_ path: StoragePath) -> Self { Self("Reading", path.rawValue) }
    static func querying(_ query: Query) -> Self { Self("Querying", query.place) }
    static func following(_ path: StoragePath) -> Self { Self("Following", path.rawValue) }
    static func following(_ query: Query) -> Self { Self("Following", query.place) }
}

extension [StoragePath] {
    /// The subject of reading these, for error messages.
    var reading: ClientOperation.Subject? {
        first.map { ClientOperation.Subject("Reading", $0.rawValue, others: count - 1) }
    }
}

extension WriteBatch {
    var operation: ClientOperation {
        let subject = writes.first.map {
            ClientOperation.Subject("Writing", $0.path.rawValue, others: writes.count - 1)
        }
        return ClientOperation("commit", isRepeatable: isIdempotent, subject)
    }
}

extension Query {
    /// The place it reads, for error messages.
    fileprivate var place: String {
        switch source {
        case .collection(let path): path.rawValue
        case .group(let id, _): id
        }
    }
}

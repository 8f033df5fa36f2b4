/// A storage client that forwards every call along its route.
///
/// ```swift
/// struct Counted: RoutedStorageClient {
///     let route: Route<any StorageClient>
///     let count: Counter
///     func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt { … }   // what it does differently
/// }
/// ```
/// This is the only place that forwards every requirement: a wrapper that forgot one with a default would compile, but
/// silently lose the wrapped client's better implementation.
public protocol RoutedStorageClient: StorageClient {
    var route: Route<any StorageClient> { get }
}

extension RoutedStorageClient {
    public var provider: InfrastructureProvider { route.client?.provider ?? .unavailable }
    public var capabilities: StorageCapabilities { route.client?.capabilities ?? StorageCapabilities() }
    public var identity: ClientIdentity { route.identity { $0.identity } }
    public var clock: any Clock<Duration> { route.client?.clock ?? ContinuousClock() }

    public func newDocument(in collection: CollectionPath) -> StoragePath {
        route.client?.newDocument(in: collection) ?? collection.newDocument()
    }

    public func document(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        try await route.call(.reading(path)) { storage throws(StorageError) in
            try await storage.document(path, from: source)
        }
    }
    public func documents(
        _ paths: [StoragePath], from source: ReadSource
    ) async throws(StorageError) -> [DocumentSnapshot] {
        try await route.call(.reading(paths)) { storage throws(StorageError) in
            try await storage.documents(paths, from: source)
        }
    }
    public func documents(_ query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        try await route.call(.querying(query)) { storage throws(StorageError) in
            try await storage.documents(query, from: source)
        }
    }
    public func snapshots(
        of path: StoragePath, options: ListenOptions
    ) -> SnapshotStream<DocumentSnapshot, StorageError> {
        route.snapshots(try .following(path)) { $0.snapshots(of: path, options: options) }
    }
    public func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError> {
        route.snapshots(try .following(query), rebase: { $1.rebased(on: $0) }) {
            $0.snapshots(of: query, options: options)
        }
    }
    public func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        try await route.call(.writing(batch)) { storage throws(StorageError) in try await storage.commit(batch) }
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
        try await route.call(.querying(query, named: "aggregate")) { storage throws(StorageError) in
            try await storage.aggregate(query, aggregations)
        }
    }
    public func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        try await route.call(.listingCollections(under: document)) { storage throws(StorageError) in
            try await storage.collections(under: document)
        }
    }
    public func dividers(ofGroup group: String, into count: Int) async throws(StorageError) -> [StoragePath] {
        try await route.call(.dividing(group)) { storage throws(StorageError) in
            try await storage.dividers(ofGroup: group, into: count)
        }
    }
    /// Not repeated as a whole, since it reports its progress.
    public func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        try await route.call(.deletingRecursively(document)) { storage throws(StorageError) in
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
    public func syncStatus() -> SnapshotStream<SyncStatus, Never> {
        route.states("sync status", absent: SyncStatus()) { $0.syncStatus() }
    }
    public func refusedWrites() -> SnapshotStream<[RefusedWrite], StorageError> {
        route.snapshots("refused writes") { $0.refusedWrites() }
    }
    public func resolveRefusedWrite(_ id: RefusedWrite.ID, requeuing batch: WriteBatch?) async throws(StorageError) {
        try await route.call(.resolving(requeuing: batch)) { storage throws(StorageError) in
            try await storage.resolveRefusedWrite(id, requeuing: batch)
        }
    }
    public var unsentWrites: UnsentWrites? { get async { await route.readyClient?.unsentWrites } }
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
    /// The wrapped client, to which calls are forwarded. It should stay the same for as long as the wrapper lives.
    var base: any StorageClient { get }
}

extension StorageClientWrapper {
    public var route: Route<any StorageClient> { Route(to: base) }
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

/// Each of these checks the arguments of its call.
extension ClientOperation {
    static func reading(_ path: StoragePath) throws(StorageError) -> ClientOperation {
        .repeatable("document", "Reading", try path.checked().rawValue)
    }
    static func reading(_ paths: [StoragePath]) throws(StorageError) -> ClientOperation {
        for path in paths { try path.checked() }
        return paths.operation
    }
    static func querying(_ query: Query, named name: String = "query") throws(StorageError) -> ClientOperation {
        .repeatable(name, "Querying", try query.checked().target)
    }
    static func following(_ path: StoragePath) throws(StorageError) -> ClientOperation {
        ClientOperation("document stream", "Following", try path.checked().rawValue)
    }
    static func following(_ query: Query) throws(StorageError) -> ClientOperation {
        ClientOperation("query stream", "Following", try query.checked().target)
    }
    static func writing(_ batch: WriteBatch) throws(StorageError) -> ClientOperation {
        try batch.checked().operation
    }
    static func listingCollections(under document: StoragePath?) throws(StorageError) -> ClientOperation {
        .repeatable(
            "collections", document.map { _ in "Listing the collections of" }, try document?.checked().rawValue)
    }
    static func dividing(_ group: String) throws(StorageError) -> ClientOperation {
        try Query(group: group).checked()
        return .repeatable("dividers", "Dividing", group)
    }
    static func deletingRecursively(_ document: StoragePath) throws(StorageError) -> ClientOperation {
        ClientOperation("delete recursively", "Deleting", try document.checked().rawValue)
    }
    static func resolving(requeuing batch: WriteBatch?) throws(StorageError) -> ClientOperation {
        try batch?.checked()
        return "resolve refused write"
    }
}

extension [StoragePath] {
    /// The operation of reading these documents.
    var operation: ClientOperation {
        .repeatable("documents", isEmpty ? nil : "Reading", first?.rawValue, others: Swift.max(0, count - 1))
    }
}

extension WriteBatch {
    /// The operation of committing these writes.
    var operation: ClientOperation {
        ClientOperation(
            "commit", writes.isEmpty ? nil : "Writing", writes.first?.path.rawValue,
            others: max(0, writes.count - 1), isRepeatable: isIdempotent)
    }
}

extension Query {
    /// The collection or group it reads, for error messages.
    fileprivate var target: String {
        switch source {
        case .collection(let path): path.rawValue
        case .group(let id, _): id
        }
    }
}

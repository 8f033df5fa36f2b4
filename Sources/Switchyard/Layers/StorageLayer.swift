/// A storage client around another: forwards every requirement, so that a layer writes only what it changes.
///
/// A requirement with a default that a wrapper forgets to forward would silently lose the wrapped client's better
/// version; conforming to this protocol makes that impossible.
public protocol StorageLayer: StorageClient {
    var base: any StorageClient { get }
}

extension StorageLayer {
    public var provider: InfrastructureProvider { base.provider }
    public var capabilities: StorageCapabilities { base.capabilities }
    public var clock: any Clock<Duration> { base.clock }

    public func snapshot(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        try await base.snapshot(path, from: source)
    }
    public func snapshots(
        of paths: [StoragePath], from source: ReadSource
    ) async throws(StorageError) -> [DocumentSnapshot] {
        try await base.snapshots(of: paths, from: source)
    }
    public func results(of query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        try await base.results(of: query, from: source)
    }
    public func snapshots(
        of path: StoragePath, options: ListenOptions
    ) -> SnapshotStream<DocumentSnapshot, StorageError> {
        base.snapshots(of: path, options: options)
    }
    public func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError> {
        base.snapshots(of: query, options: options)
    }
    public func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt { try await base.commit(batch) }
    public func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        try await base.makeTransaction()
    }
    public func aggregate(
        _ query: Query, _ aggregations: [Aggregation]
    ) async throws(StorageError) -> [DocumentValue] {
        try await base.aggregate(query, aggregations)
    }
    public func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        try await base.collections(under: document)
    }
    public func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        try await base.deleteRecursively(document, progress: progress)
    }
    public func enableNetwork() async throws(StorageError) { try await base.enableNetwork() }
    public func disableNetwork() async throws(StorageError) { try await base.disableNetwork() }
    public func waitForPendingWrites() async throws(StorageError) { try await base.waitForPendingWrites() }
    public func snapshotsInSync() -> EventStream<Void, StorageError> { base.snapshotsInSync() }
    public func pendingWrites() -> SnapshotStream<[PendingWrite], StorageError> { base.pendingWrites() }
    public func cancelPendingWrite(_ id: PendingWrite.ID) async throws(StorageError) -> Bool {
        try await base.cancelPendingWrite(id)
    }
    public func retryPendingWrites() async throws(StorageError) { try await base.retryPendingWrites() }
    public func refusedWrites() -> SnapshotStream<[RefusedWrite], StorageError> { base.refusedWrites() }
    public func resolveRefusedWrite(_ id: RefusedWrite.ID, requeuing batch: WriteBatch?) async throws(StorageError) {
        try await base.resolveRefusedWrite(id, requeuing: batch)
    }
    public func clearPersistence() async throws(StorageError) { try await base.clearPersistence() }
    public func shutDown() async { await base.shutDown() }
    public func unwrapped<Client>(as type: Client.Type) -> Client? { self as? Client ?? base.unwrapped(as: type) }
}

import Switchyard

/// Stands for a dependency that nobody set: every operation fails and says which one it was.
struct UnsetStorageClient: StorageClient {
    var provider: InfrastructureProvider { "unset" }
    var capabilities: StorageCapabilities { StorageCapabilities() }
    func snapshot(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        throw .unset("snapshot")
    }
    func snapshots(of paths: [StoragePath], from source: ReadSource) async throws(StorageError) -> [DocumentSnapshot] {
        throw .unset("snapshots")
    }
    func results(of query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        throw .unset("results")
    }
    func snapshots(of path: StoragePath, options: ListenOptions) -> SnapshotStream<DocumentSnapshot, StorageError> {
        .failing(.unset("snapshots"))
    }
    func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError> {
        .failing(.unset("snapshots"))
    }
    func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt { throw .unset("commit") }
    func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        throw .unset("makeTransaction")
    }
    func aggregate(_ query: Query, _ aggregations: [Aggregation]) async throws(StorageError) -> [DocumentValue] {
        throw .unset("aggregate")
    }
    func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        throw .unset("collections")
    }
    func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int { throw .unset("deleteRecursively") }
    func enableNetwork() async throws(StorageError) { throw .unset("enableNetwork") }
    func disableNetwork() async throws(StorageError) { throw .unset("disableNetwork") }
    func waitForPendingWrites() async throws(StorageError) { throw .unset("waitForPendingWrites") }
    func snapshotsInSync() -> EventStream<Void, StorageError> { .failing(.unset("snapshotsInSync")) }
    func pendingWrites() -> SnapshotStream<[PendingWrite], StorageError> { .failing(.unset("pendingWrites")) }
    func cancelPendingWrite(_ id: PendingWrite.ID) async throws(StorageError) -> Bool {
        throw .unset("cancelPendingWrite")
    }
    func retryPendingWrites() async throws(StorageError) { throw .unset("retryPendingWrites") }
    func refusedWrites() -> SnapshotStream<[RefusedWrite], StorageError> { .failing(.unset("refusedWrites")) }
    func resolveRefusedWrite(_ id: RefusedWrite.ID, requeuing batch: WriteBatch?) async throws(StorageError) {
        throw .unset("resolveRefusedWrite")
    }
    func clearPersistence() async throws(StorageError) { throw .unset("clearPersistence") }
}

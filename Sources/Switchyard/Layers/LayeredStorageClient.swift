/// A storage client with a layer around each of its calls.
public struct LayeredStorageClient: StorageLayer {
    public let base: any StorageClient
    private let layer: any ClientLayer

    public init(_ base: any StorageClient, _ layer: any ClientLayer) {
        self.base = base
        self.layer = layer
    }

    public func snapshot(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        try await repeatable("snapshot") { () throws(StorageError) in try await base.snapshot(path, from: source) }
    }
    public func snapshots(
        of paths: [StoragePath], from source: ReadSource
    ) async throws(StorageError) -> [DocumentSnapshot] {
        try await repeatable("snapshots") { () throws(StorageError) in
            try await base.snapshots(of: paths, from: source)
        }
    }
    public func results(of query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        try await repeatable("results") { () throws(StorageError) in try await base.results(of: query, from: source) }
    }
    public func aggregate(
        _ query: Query, _ aggregations: [Aggregation]
    ) async throws(StorageError) -> [DocumentValue] {
        try await repeatable("aggregate") { () throws(StorageError) in try await base.aggregate(query, aggregations) }
    }
    public func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        try await repeatable("collections") { () throws(StorageError) in try await base.collections(under: document) }
    }

    public func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        try await layer.call(about("commit", isRepeatable: batch.isIdempotent)) { () throws(StorageError) in
            try await base.commit(batch)
        }
    }
    public func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        try await once("transaction") { () throws(StorageError) in try await base.makeTransaction() }
    }
    public func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        // Not repeated as a whole, since it tells its progress.
        try await once("delete recursively") { () throws(StorageError) in
            try await base.deleteRecursively(document, progress: progress)
        }
    }

    public func snapshots(
        of path: StoragePath, options: ListenOptions
    ) -> SnapshotStream<DocumentSnapshot, StorageError> {
        layer.stream(about("document stream"), base.snapshots(of: path, options: options))
    }
    public func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError> {
        layer.stream(about("query stream"), base.snapshots(of: query, options: options))
    }
    public func snapshotsInSync() -> EventStream<Void, StorageError> {
        layer.stream(about("snapshots in sync"), base.snapshotsInSync())
    }
    public func pendingWrites() -> SnapshotStream<[PendingWrite], StorageError> {
        layer.stream(about("pending writes"), base.pendingWrites())
    }
    public func refusedWrites() -> SnapshotStream<[RefusedWrite], StorageError> {
        layer.stream(about("refused writes"), base.refusedWrites())
    }

    public func enableNetwork() async throws(StorageError) {
        try await once("enable network") { () throws(StorageError) in try await base.enableNetwork() }
    }
    public func disableNetwork() async throws(StorageError) {
        try await once("disable network") { () throws(StorageError) in try await base.disableNetwork() }
    }
    public func waitForPendingWrites() async throws(StorageError) {
        try await once("wait for pending writes") { () throws(StorageError) in try await base.waitForPendingWrites() }
    }
    public func cancelPendingWrite(_ id: PendingWrite.ID) async throws(StorageError) -> Bool {
        try await once("cancel pending write") { () throws(StorageError) in try await base.cancelPendingWrite(id) }
    }
    public func retryPendingWrites() async throws(StorageError) {
        try await once("retry pending writes") { () throws(StorageError) in try await base.retryPendingWrites() }
    }
    public func resolveRefusedWrite(_ id: RefusedWrite.ID, requeuing batch: WriteBatch?) async throws(StorageError) {
        try await once("resolve refused write") { () throws(StorageError) in
            try await base.resolveRefusedWrite(id, requeuing: batch)
        }
    }
    public func clearPersistence() async throws(StorageError) {
        try await once("clear persistence") { () throws(StorageError) in try await base.clearPersistence() }
    }

    private func about(_ operation: String, isRepeatable: Bool = false) -> ClientCall {
        ClientCall(service: .storage, provider: base.provider, operation: operation, isRepeatable: isRepeatable)
    }
    private func repeatable<Result>(
        _ operation: String, _ body: () async throws(StorageError) -> Result
    ) async throws(StorageError) -> Result {
        try await layer.call(about(operation, isRepeatable: true)) { () throws(StorageError) in try await body() }
    }
    private func once<Result>(
        _ operation: String, _ body: () async throws(StorageError) -> Result
    ) async throws(StorageError) -> Result {
        try await layer.call(about(operation)) { () throws(StorageError) in try await body() }
    }
}

extension StorageClient {
    /// This client, with `layer` around each of its calls.
    public func layered(_ layer: any ClientLayer) -> LayeredStorageClient { LayeredStorageClient(self, layer) }
    /// This client, with calls repeated that failed for a passing reason and are safe to repeat.
    public func retrying(_ policy: RetryPolicy = .standard) -> LayeredStorageClient {
        layered(RetryLayer(policy, clock: clock))
    }
    /// This client, with `observer` told of everything it does.
    public func observed(by observer: any InfrastructureObserver) -> LayeredStorageClient {
        layered(ObserveLayer(observer))
    }
}

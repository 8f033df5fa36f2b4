/// Tells an observer of every call, stream and change of the queue. Changes nothing about them.
public struct ObservedStorageClient: StorageLayer {
    public let base: any StorageClient
    private let watch: CallWatch

    public init(_ base: any StorageClient, observer: any InfrastructureObserver) {
        self.base = base
        watch = CallWatch(service: .storage, provider: base.provider, observer: observer)
    }

    public func snapshot(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        try await watch.call("snapshot") { () throws(StorageError) in try await base.snapshot(path, from: source) }
    }
    public func snapshots(
        of paths: [StoragePath], from source: ReadSource
    ) async throws(StorageError) -> [DocumentSnapshot] {
        try await watch.call("snapshots") { () throws(StorageError) in try await base.snapshots(of: paths, from: source)
        }
    }
    public func results(of query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        try await watch.call("results") { () throws(StorageError) in try await base.results(of: query, from: source) }
    }
    public func snapshots(
        of path: StoragePath, options: ListenOptions
    ) -> SnapshotStream<DocumentSnapshot, StorageError> {
        watch.stream("document stream", base.snapshots(of: path, options: options))
    }
    public func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError> {
        watch.stream("query stream", base.snapshots(of: query, options: options))
    }
    public func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        try await watch.call("commit") { () throws(StorageError) in try await base.commit(batch) }
    }
    public func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        try await watch.call("transaction") { () throws(StorageError) in try await base.makeTransaction() }
    }
    public func aggregate(
        _ query: Query, _ aggregations: [Aggregation]
    ) async throws(StorageError) -> [DocumentValue] {
        try await watch.call("aggregate") { () throws(StorageError) in try await base.aggregate(query, aggregations) }
    }
    public func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        try await watch.call("collections") { () throws(StorageError) in try await base.collections(under: document) }
    }
    public func pendingWrites() -> SnapshotStream<[PendingWrite], StorageError> {
        let watch = watch
        return base.pendingWrites().mapElements { pending in
            watch.tell(.pendingWrites(count: pending.count))
            return pending
        }
    }
}

extension StorageClient {
    /// This client, with `observer` told of everything it does.
    public func observed(by observer: any InfrastructureObserver) -> ObservedStorageClient {
        ObservedStorageClient(self, observer: observer)
    }
}

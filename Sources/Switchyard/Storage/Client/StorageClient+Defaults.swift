/// Defaults that a provider can replace.
extension StorageClient {
    public var clock: any Clock<Duration> { ContinuousClock() }

    public func newDocument(in collection: CollectionPath) -> StoragePath { collection.newDocument() }

    public func documents(
        _ paths: [StoragePath], from source: ReadSource
    ) async throws(StorageError) -> [DocumentSnapshot] {
        var known: [StoragePath: DocumentSnapshot] = [:]
        var result: [DocumentSnapshot] = []
        for path in paths {
            let snapshot: DocumentSnapshot
            if let one = known[path] { snapshot = one } else { snapshot = try await document(path, from: source) }
            known[path] = snapshot
            result.append(snapshot)
        }
        return result
    }

    public func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        throw .unsupported("transactions", by: provider, instead: "Use a batch, or updates with a precondition.")
    }

    public func aggregate(
        _ query: Query, _ aggregations: [Aggregation]
    ) async throws(StorageError) -> [DocumentValue] {
        let results = try await documents(query, from: .server)
        return AggregateEvaluator.values(of: aggregations, over: results.documents)
    }

    public func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        throw .unsupported("listing collections", by: provider, instead: "Keep their names in a document.")
    }

    public func dividers(ofGroup group: String, into count: Int) async throws(StorageError) -> [StoragePath] { [] }

    public func enableNetwork() async throws(StorageError) { throw offlineRefusal("switching the network") }
    public func disableNetwork() async throws(StorageError) { throw offlineRefusal("switching the network") }
    public func waitForPendingWrites() async throws(StorageError) {}
    public func snapshotsInSync() -> EventStream<Void, StorageError> {
        .failing(offlineRefusal("snapshots in sync"))
    }
    /// Without a queue nothing is ever pending: the stream delivers one empty list and ends.
    public func pendingWrites() -> SnapshotStream<[PendingWrite], StorageError> {
        .just([])
    }
    public func cancelPendingWrite(_ id: PendingWrite.ID) async throws(StorageError) -> Bool { false }
    public func retryPendingWrites() async throws(StorageError) {}
    /// Without a queue, every rejection was thrown: the stream delivers one empty list and ends.
    public func refusedWrites() -> SnapshotStream<[RefusedWrite], StorageError> {
        .just([])
    }
    public func resolveRefusedWrite(_ id: RefusedWrite.ID, requeuing batch: WriteBatch?) async throws(StorageError) {
        throw offlineRefusal("a list of refused writes")
    }
    public var unsentWrites: UnsentWrites? { get async { nil } }
    public func clearPersistence() async throws(StorageError) { throw offlineRefusal("a local store") }

    public func shutDown() async {}

    public func unwrapped<Client>(as type: Client.Type) -> Client? { self as? Client }

    private func offlineRefusal(_ operation: String) -> StorageError {
        .unsupported(operation, by: provider, instead: "Use a provider with the offline capability.")
    }
}

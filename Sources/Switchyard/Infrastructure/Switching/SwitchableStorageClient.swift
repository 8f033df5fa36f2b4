import SwitchyardBytes

/// The storage of an ``Infrastructure``: always the chosen one.
struct SwitchableStorageClient: StorageClient {
    let board: Switchboard<any StorageClient>

    var provider: InfrastructureProvider { board.client.provider }
    var capabilities: StorageCapabilities { board.client.capabilities }
    var clock: any Clock<Duration> { board.client.clock }

    func snapshot(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        try await board.run { client throws(StorageError) in try await client.snapshot(path, from: source) }
    }

    func snapshots(
        of paths: [StoragePath], from source: ReadSource
    ) async throws(StorageError) -> [DocumentSnapshot] {
        try await board.run { client throws(StorageError) in try await client.snapshots(of: paths, from: source) }
    }

    func results(of query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        try await board.run { client throws(StorageError) in try await client.results(of: query, from: source) }
    }

    func snapshots(
        of path: StoragePath, options: ListenOptions
    ) -> SnapshotStream<DocumentSnapshot, StorageError> {
        board.snapshots { $0.snapshots(of: path, options: options) }
    }

    func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError> {
        let evaluator = QueryEvaluator(query)
        return board.snapshots {
            $0.snapshots(of: query, options: options)
        } rebase: { last, new in
            QuerySnapshot(
                query: query, documents: new.documents,
                changes: ListDifference.changes(from: last.documents, to: new.documents, by: evaluator),
                metadata: new.metadata)
        }
    }

    func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        let (client, lease) = board.lease()
        let release = Once { [board] in board.release(lease) }
        do throws(StorageError) {
            let receipt = try await client.commit(batch)
            guard receipt.present == nil else {
                release.run()
                return receipt
            }
            let leased = LeasedReceipt(receipt, release: release)
            return WriteReceipt(batchID: receipt.batchID, lastFailure: receipt.lastFailure) { await leased.answer() }
        } catch {
            release.run()
            throw error
        }
    }

    func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        let (client, lease) = board.lease()
        do throws(StorageError) {
            return LeasedTransaction(
                backend: try await client.makeTransaction(), release: Once { [board] in board.release(lease) })
        } catch {
            board.release(lease)
            throw error
        }
    }

    func aggregate(_ query: Query, _ aggregations: [Aggregation]) async throws(StorageError) -> [DocumentValue] {
        try await board.run { client throws(StorageError) in try await client.aggregate(query, aggregations) }
    }

    func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        try await board.run { client throws(StorageError) in try await client.collections(under: document) }
    }

    func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        try await board.run { client throws(StorageError) in
            try await client.deleteRecursively(document, progress: progress)
        }
    }

    func enableNetwork() async throws(StorageError) {
        try await board.run { client throws(StorageError) in try await client.enableNetwork() }
    }
    func disableNetwork() async throws(StorageError) {
        try await board.run { client throws(StorageError) in try await client.disableNetwork() }
    }
    func waitForPendingWrites() async throws(StorageError) {
        try await board.run { client throws(StorageError) in try await client.waitForPendingWrites() }
    }
    func snapshotsInSync() -> EventStream<Void, StorageError> { board.events { $0.snapshotsInSync() } }
    func pendingWrites() -> SnapshotStream<[PendingWrite], StorageError> { board.snapshots { $0.pendingWrites() } }
    func cancelPendingWrite(_ id: PendingWrite.ID) async throws(StorageError) -> Bool {
        try await board.run { client throws(StorageError) in try await client.cancelPendingWrite(id) }
    }
    func retryPendingWrites() async throws(StorageError) {
        try await board.run { client throws(StorageError) in try await client.retryPendingWrites() }
    }
    func refusedWrites() -> SnapshotStream<[RefusedWrite], StorageError> { board.snapshots { $0.refusedWrites() } }
    func resolveRefusedWrite(_ id: RefusedWrite.ID, requeuing batch: WriteBatch?) async throws(StorageError) {
        try await board.run { client throws(StorageError) in
            try await client.resolveRefusedWrite(id, requeuing: batch)
        }
    }
    func clearPersistence() async throws(StorageError) {
        try await board.run { client throws(StorageError) in try await client.clearPersistence() }
    }
    func shutDown() async { await board.client.shutDown() }
    func unwrapped<Client>(as type: Client.Type) -> Client? {
        self as? Client ?? board.client.unwrapped(as: type)
    }
}

/// An attempt at a transaction that keeps the client it began on.
private struct LeasedTransaction: StorageTransactionBackend {
    let backend: any StorageTransactionBackend
    let release: Once

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot] {
        try await backend.documents(paths)
    }

    func commit(_ writes: [DocumentWrite]) async throws(StorageError) -> WriteReceipt.Acknowledgement {
        let acknowledgement = try await backend.commit(writes)
        release.run()
        return acknowledgement
    }

    func rollBack() async {
        await backend.rollBack()
        release.run()
    }
}

public import Switchyard

/// The reference driver: one device on a ``ModelServer``.
public struct ModelDriver: SyncDriver {
    public let provider: InfrastructureProvider = "model"
    public let capabilities: StorageCapabilities
    public let traits = SyncDriverTraits(hasLedger: true)
    private let server: ModelServer

    public init(_ server: ModelServer) {
        self.server = server
        var capabilities = StorageCapabilities.all
        capabilities.recursiveDelete = false
        self.capabilities = capabilities
    }

    public func documents(_ paths: [StoragePath]) async throws(StorageError) -> FetchedDocuments {
        try server.fetch(paths)
    }
    public func results(of query: Query) async throws(StorageError) -> FetchedDocuments {
        try server.results(of: query)
    }
    public func openWatch() async throws(StorageError) -> any WatchConnection { try server.connect() }
    public func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
        try server.commit(batch.writes, id: batch.id)
    }
    public func result(ofBatch id: String) async throws(StorageError) -> CommitResult? {
        try server.result(ofBatch: id)
    }
    public func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        ModelTransaction(server: server)
    }
    public func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        try server.collections(under: document)
    }
}

private struct ModelTransaction: StorageTransactionBackend {
    let server: ModelServer

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot] {
        try server.fetch(paths).documents
    }

    func commit(_ writes: [DocumentWrite]) async throws(StorageError) -> WriteReceipt.Acknowledgement {
        let result = try server.commit(writes)
        return WriteReceipt.Acknowledgement(commitTime: result.commitTime, updateTimes: result.updateTimes)
    }
}

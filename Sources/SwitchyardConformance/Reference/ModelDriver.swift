public import Switchyard
public import SwitchyardSync

/// The reference driver: one device on a ``ModelServer``.
public struct ModelDriver: SyncDriver {
    public let provider: InfrastructureProvider = "model"
    public let capabilities = StorageCapabilities.all
    public let traits: SyncDriverTraits
    let server: ModelServer
    /// The versions of this device, on a server of tables.
    let sequence = ModelSequence()
    private let clock: any Clock<Duration>

    /// - Parameters:
    ///   - server: The server to use.
    ///   - clock: The clock for the delays of ``ModelFaults``.
    public init(_ server: ModelServer, clock: any Clock<Duration> = ContinuousClock()) {
        self.server = server
        self.clock = clock
        var traits = SyncDriverTraits(hasLedger: server.tables == nil, usesTags: server.tables != nil)
        traits.makesNames = server.tables?.counted.isEmpty == false
        self.traits = traits
    }

    public func begin(after version: Timestamp) { sequence.begin(after: version) }

    public func documents(_ paths: [StoragePath]) async throws(StorageError) -> FetchedDocuments {
        if server.tables != nil {
            return try await fetchRows(isQuery: false) { server throws(StorageError) in try server.fetchRows(paths) }
        }
        return try await call { server throws(StorageError) in try server.fetch(paths) }
    }

    public func results(of query: Query) async throws(StorageError) -> FetchedDocuments {
        if server.tables != nil {
            return try await fetchRows(isQuery: true) { server throws(StorageError) in
                try server.fetchRows(of: query)
            }
        }
        return try await call { server throws(StorageError) in try server.results(of: query) }
    }

    public func openWatch() async throws(StorageError) -> any WatchConnection {
        try await clock.pause(server.delay())
        if server.happens(\.lostRequests) || server.happens(\.lostAnswers) { throw ModelServer.unreachable }
        return try server.connect(server.tables == nil ? DeltaReporter() : RowReporter(sequence), clock)
    }

    public func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
        if server.tables != nil { return try await commitRows(batch) }
        return try await call { server throws(StorageError) in
            if server.happens(\.lateCopies) { server.keepLateCopy(of: batch) }
            return try server.commit(batch.writes, id: batch.id)
        }
    }

    public func isProvisional(_ document: StoragePath) -> Bool { server.isProvisional(document) }

    public func findsAddition(of document: StoragePath) -> Bool { true }

    public func add(_ batch: OutgoingBatch) async throws(StorageError) -> (document: StoragePath, result: CommitResult)
    {
        try await addRow(batch)
    }

    public func result(of batch: OutgoingBatch) async throws(StorageError) -> CommitResult? {
        try await call { server throws(StorageError) in try server.result(ofBatch: batch.id) }
    }

    public func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        ModelTransaction(server: server)
    }

    public func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        try await call { server throws(StorageError) in try server.collections(under: document) }
    }

    /// Makes a request, and applies network faults to it and its answer.
    func call<Answer>(
        _ body: (ModelServer) throws(StorageError) -> Answer
    ) async throws(StorageError) -> Answer {
        try await clock.pause(server.delay())
        if server.happens(\.lostRequests) { throw ModelServer.unreachable }
        let answer = try body(server)
        try await clock.pause(server.delay())
        if server.happens(\.lostAnswers) { throw ModelServer.unreachable }
        return answer
    }
}

extension Clock where Duration == Swift.Duration {
    func pause(_ duration: Duration) async throws(StorageError) {
        guard duration > .zero else { return }
        guard (try? await sleep(for: duration)) != nil else {
            throw StorageError(.cancelled, "The call was cancelled.")
        }
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

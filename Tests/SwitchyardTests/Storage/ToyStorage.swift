import Switchyard
import Synchronization

/// The least that a storage client can be: a dictionary, and streams that receive every commit.
final class ToyStorage: StorageClient {
    struct State {
        var documents: [StoragePath: DocumentSnapshot] = [:]
        var commits: [WriteBatch] = []
        var queries: [Query] = []
        var failures: [StorageError] = []
        var time: Int64 = 0
        var listeners: [Int: @Sendable () -> Void] = [:]
        var nextListener = 0
        var rollBacks = 0
    }

    let state = Mutex(State())
    let capabilities: StorageCapabilities
    let provider: InfrastructureProvider = "toy"

    init(_ documents: [StoragePath: DocumentData] = [:], capabilities: StorageCapabilities = .all) {
        self.capabilities = capabilities
        for (path, data) in documents {
            state.withLock { $0.documents[path] = .existing(path, data, updateTime: Timestamp(microseconds: 0)) }
        }
    }

    var paths: [StoragePath] { state.withLock { $0.documents.keys.sorted() } }
    func data(_ path: StoragePath) -> DocumentData? { state.withLock { $0.documents[path]?.data } }
    var commits: [WriteBatch] { state.withLock { $0.commits } }
    var queries: [Query] { state.withLock { $0.queries } }
    var rollBacks: Int { state.withLock { $0.rollBacks } }
    var listenerCount: Int { state.withLock { $0.listeners.count } }
    /// The next calls fail with these, one each.
    func fail(_ failures: StorageError...) { state.withLock { $0.failures += failures } }

    func document(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        try path.checked()
        try takeFailure()
        return state.withLock { $0.documents[path] } ?? .missing(path)
    }

    func documents(_ query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        try query.checked()
        try takeFailure()
        let documents = state.withLock { state in
            state.queries.append(query)
            return Array(state.documents.values)
        }
        return QuerySnapshot(query: query, documents: QueryEvaluator(query).results(among: documents)).projected
    }

    func snapshots(
        of path: StoragePath, options: ListenOptions
    ) -> SnapshotStream<DocumentSnapshot, StorageError> {
        if let mistake = path.mistake { return .failing(mistake) }
        return SnapshotStream { [self] continuation in
            listen { continuation.yield(self.state.withLock { $0.documents[path] } ?? .missing(path)) }
        }
    }

    func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError> {
        if let mistake = query.mistake { return .failing(mistake) }
        return SnapshotStream { [self] continuation in
            let last = Mutex(QuerySnapshot(query: query, documents: []))
            return listen {
                let documents = self.state.withLock { Array($0.documents.values) }
                let next = last.withLock { last in
                    last = QuerySnapshot(
                        query: query, documents: QueryEvaluator(query).results(among: documents), following: last)
                    return last
                }
                continuation.yield(next)
            }
        }
    }

    func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        try checkBatch(batch)
        let time = try apply(batch.writes)
        return WriteReceipt(batchID: "\(time.seconds)", acknowledged: .init(commitTime: time, updateTimes: []))
    }

    func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        let level = (document?.segments.count ?? 0) + 1
        let start = document.map { "\($0)/" } ?? ""
        let found = state.withLock { state in state.documents.keys.filter { $0.description.hasPrefix(start) } }.map {
            CollectionPath(unchecked: $0.segments.prefix(level).joined(separator: "/"))
        }
        return Set(found).sorted()
    }

    func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        try takeFailure()
        return Transaction(storage: self)
    }

    struct Transaction: StorageTransactionBackend {
        let storage: ToyStorage
        func documents(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot] {
            try await storage.documents(paths)
        }
        func commit(_ writes: [DocumentWrite]) async throws(StorageError) -> WriteReceipt.Acknowledgement {
            try storage.takeFailure()
            return .init(commitTime: try storage.apply(writes), updateTimes: [])
        }
        func rollBack() async { storage.state.withLock { $0.rollBacks += 1 } }
    }

    private func takeFailure() throws(StorageError) {
        let failure = state.withLock { $0.failures.isEmpty ? nil : $0.failures.removeFirst() }
        if let failure { throw failure }
    }

    private func apply(_ writes: [DocumentWrite]) throws(StorageError) -> Timestamp {
        let (result, listeners) = state.withLock { state -> (Result<Timestamp, StorageError>, [@Sendable () -> Void]) in
            state.time += 1
            let time = Timestamp(clampingSeconds: state.time, nanoseconds: 0)
            var documents = state.documents
            do throws(StorageError) {
                for write in writes {
                    let old = documents[write.path] ?? .missing(write.path)
                    try write.check(against: old)
                    let data = write.applied(to: old.data, serverTime: time).data
                    guard write.operation != .verify else { continue }
                    documents[write.path] = data.map { .existing(write.path, $0, updateTime: time) }
                }
            } catch {
                return (.failure(error), [])
            }
            state.documents = documents
            state.commits.append(WriteBatch(writes))
            return (.success(time), Array(state.listeners.values))
        }
        for listener in listeners { listener() }
        return try result.get()
    }

    private func listen(_ listener: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let id = state.withLock { state in
            state.nextListener += 1
            state.listeners[state.nextListener] = listener
            return state.nextListener
        }
        listener()
        return { self.state.withLock { $0.listeners[id] = nil } }
    }
}

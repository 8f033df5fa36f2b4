public import Switchyard
import SwitchyardBytes
public import SwitchyardSync
import Synchronization

/// An in-memory server with everything an engine needs: versions, watched targets with deltas and tokens, a ledger.
///
/// The reference for drivers, and a server for tests and previews of the engine. Several ``ModelDriver``s on one server are
/// several devices.
public final class ModelServer: Sendable {
    struct State {
        var collections: [CollectionPath: [StoragePath: DocumentSnapshot]] = [:]
        /// The result of each batch by ID, so that a repeated batch has no second effect.
        var ledger: [UTF8Key: Result<CommitResult, StorageError>] = [:]
        /// In microseconds; advances with every commit, so versions are exact and reproducible.
        var time: Int64 = 1_700_000_000_000_000
        /// The last change of each document, including deletions, to find what a token has missed.
        var changed: [StoragePath: Int64] = [:]
        var connections: [Int: ModelConnection] = [:]
        var lastConnection = 0
        var isReachable = true
        var refusal: (@Sendable ([DocumentWrite]) -> StorageError?)?
        var faultState = ModelFaultState(seed: 1)
        /// Commits that arrive after later ones.
        var late: [OutgoingBatch] = []
        /// Whether collections are tables.
        let tables: ModelTables?
        var rows = ModelTableState()

        init(_ tables: ModelTables?) { self.tables = tables }
    }

    let state: Mutex<State>
    let tables: ModelTables?

    public init() {
        tables = nil
        state = Mutex(State(nil))
    }

    /// A server of tables: every collection is one, and its documents are rows.
    public init(_ tables: ModelTables) {
        self.tables = tables
        state = Mutex(State(tables))
    }

    /// The documents as they are now.
    public var documents: [DocumentSnapshot] { state.withLock { $0.collections.values.flatMap(\.values) } }

    /// Sets whether the server answers. Turning it off breaks every stream.
    public func setReachable(_ isReachable: Bool) {
        let broken = state.withLock { state -> [ModelConnection] in
            state.isReachable = isReachable
            guard !isReachable else { return [] }
            defer { state.connections = [:] }
            return Array(state.connections.values)
        }
        for connection in broken { connection.fail(ModelServer.unreachable) }
    }

    /// Breaks every open stream once.
    public func dropConnections() {
        let broken = state.withLock { state -> [ModelConnection] in
            defer { state.connections = [:] }
            return Array(state.connections.values)
        }
        for connection in broken { connection.fail(ModelServer.unreachable) }
    }

    /// Sets the writes that the server refuses for good, as rules would.
    public func refuse(_ refusal: (@Sendable ([DocumentWrite]) -> StorageError?)?) {
        state.withLock { $0.refusal = refusal }
    }

    static let unreachable = StorageError(.unavailable, "The model server cannot be reached.")

    // MARK: Calls

    func fetch(_ paths: [StoragePath]) throws(StorageError) -> FetchedDocuments {
        try state.withLock { state throws(StorageError) in
            guard state.isReachable else { throw ModelServer.unreachable }
            return FetchedDocuments(
                documents: paths.map { state[$0] ?? .missing($0) },
                readTime: Timestamp(microseconds: state.time))
        }
    }

    func results(of query: Query) throws(StorageError) -> FetchedDocuments {
        try state.withLock { state throws(StorageError) in
            guard state.isReachable else { throw ModelServer.unreachable }
            return FetchedDocuments(
                documents: state.results(of: query),
                readTime: Timestamp(microseconds: state.time))
        }
    }

    func collections(under document: StoragePath?) throws(StorageError) -> [CollectionPath] {
        try state.withLock { state throws(StorageError) in
            guard state.isReachable else { throw ModelServer.unreachable }
            var names = Set<CollectionPath>()
            for collection in state.collections.keys {
                var collection = collection
                while true {
                    if collection.parent == document { names.insert(collection) }
                    guard let parent = collection.parent else { break }
                    collection = parent.collection
                }
            }
            return names.sorted()
        }
    }

    /// Carries out a batch, and notifies every stream. A repeated batch gets its first answer and has no effect.
    ///
    /// - Parameters:
    ///   - writes: All of them take effect, or none.
    ///   - id: The batch's name, under which the result can be asked for; `nil` for a transaction's.
    public func commit(_ writes: [DocumentWrite], id: String? = nil) throws(StorageError) -> CommitResult {
        let touched = writes.map(\.path)
        return try state.withLock { state throws(StorageError) in
            guard state.isReachable else { throw ModelServer.unreachable }
            let (result, sent) = try state.commitOnce(writes, id: id)
            // Under the lock: a snapshot for another target in between would include this commit for all of them.
            for connection in sent { connection.serverChanged(touched, state) }
            return result
        }
    }

    func result(ofBatch id: String) throws(StorageError) -> CommitResult? {
        try state.withLock { state throws(StorageError) in
            guard state.isReachable else { throw ModelServer.unreachable }
            return try? state.ledger[UTF8Key(id)]?.get()
        }
    }

    func connect(
        _ reporter: any ModelReporter, _ clock: any Clock<Duration>
    ) throws(StorageError) -> ModelConnection {
        try state.withLock { state throws(StorageError) in
            guard state.isReachable else { throw ModelServer.unreachable }
            state.lastConnection += 1
            let connection = ModelConnection(server: self, id: state.lastConnection, reporter: reporter, clock: clock)
            state.connections[connection.id] = connection
            return connection
        }
    }

    /// A device learns of the answer to a commit, and so does its stream.
    func noteAnswer(to sequence: ModelSequence, _ paths: [StoragePath]) {
        state.withLock { state in
            for connection in state.streams where connection.sequence === sequence {
                connection.noteAnswer(paths, state)
            }
        }
    }

    func disconnect(_ id: Int) { state.withLock { _ = $0.connections.removeValue(forKey: id) } }
}

extension ModelServer.State {
    subscript(path: StoragePath) -> DocumentSnapshot? { collections[path.collection]?[path] }

    func results(of query: Query) -> [DocumentSnapshot] {
        QueryEvaluator(query).results(among: documents(in: query.source))
    }

    func documents(in source: Query.Source) -> [DocumentSnapshot] {
        switch source {
        case .collection(let path): Array((collections[path] ?? [:]).values)
        case .group(let id, let ancestor):
            collections.filter { $0.key.isInGroup(id, under: ancestor) }.values.flatMap(\.values)
        }
    }

    /// - Returns: The answer, and the streams to notify.
    fileprivate mutating func commitOnce(
        _ writes: [DocumentWrite], id: String?
    ) throws(StorageError) -> (CommitResult, [ModelConnection]) {
        guard let key = id.map({ UTF8Key($0) }) else { return (try commit(writes), streams) }
        if let known = ledger[key] { return (try known.get(), []) }
        do throws(StorageError) {
            let result = try commit(writes)
            ledger[key] = .success(result)
            return (result, streams)
        } catch {
            let answer = error.isRetryable ? error : error.asRefusal()
            ledger[key] = .failure(answer)
            throw answer
        }
    }

    var streams: [ModelConnection] { connections.keys.sorted().compactMap { connections[$0] } }

    mutating func commit(_ writes: [DocumentWrite]) throws(StorageError) -> CommitResult {
        if let refused = refusal?(writes) { throw refused }
        var staged: [StoragePath: DocumentSnapshot] = [:]
        time += 1000
        let now = Timestamp(microseconds: time)
        var result = CommitResult(commitTime: now)
        var touched: [StoragePath] = []
        for write in writes {
            let old = staged[write.path] ?? self[write.path] ?? .missing(write.path)
            try write.check(against: old)
            if case .verify = write.operation {
                result.updateTimes.append(old.updateTime)
                result.transformResults.append(nil)
                continue
            }
            let (data, values) = write.applied(to: old.data, serverTime: now)
            staged[write.path] =
                data.map {
                    .existing(write.path, $0, createTime: old.createTime ?? now, updateTime: now)
                } ?? .missing(write.path)
            result.updateTimes.append(data == nil ? nil : now)
            result.transformResults.append(values)
            touched.append(write.path)
        }
        for path in touched {
            changed[path] = time
            collections[path.collection, default: [:]][path] = staged[path]?.exists == true ? staged[path] : nil
            if collections[path.collection]?.isEmpty == true { collections[path.collection] = nil }
        }
        return result
    }
}

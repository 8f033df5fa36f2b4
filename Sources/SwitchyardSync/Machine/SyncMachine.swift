package import Switchyard
import SwitchyardBytes

/// The engine without time, tasks or network: events go in, actions come out.
///
/// Deterministic: the same store and the same events give the same actions. Used from one place at a time.
package final class SyncMachine {
    let local: LocalStore
    let maximumLimboResolutions: Int
    let maximumInFlight: Int
    private var actions: [SyncAction] = []

    // Listeners
    var listeners: [Int: Listener] = [:]
    /// The listeners of each query, in order of arrival.
    var listenerIDs: [LiveQuery: [Int]] = [:]
    var views: [LiveQuery: OpenView] = [:]
    /// The queries on each target, in order of arrival.
    var queriesByTarget: [Int: [LiveQuery]] = [:]
    var inSyncListeners: [Int] = []
    var hasOverdueTimer = false

    // The stream of changes
    var watch = StreamState.stopped
    var aggregator = WatchAggregator()
    /// The targets to watch, with their newest tokens: queries and look-ups of single documents.
    var listening: [Int: TargetRequest] = [:]
    /// The known versions of documents when their targets were requested.
    var askedVersions: [Int: Timestamp] = [:]
    var online = OnlineStateTracker()
    var watchFailures = 0
    var lastWatchError: StorageError?
    var isWatchOverloaded = false
    var announcedOnlineState = OnlineState.unknown

    // Look-ups of documents that the server has not confirmed
    var limbo = LimboResolver()

    // The stream of writes
    var writer = StreamState.stopped
    var pipeline: [QueuedBatch] = []
    /// The next batches, read many at a time instead of one per acknowledgement.
    var ahead: ArraySlice<QueuedBatch> = []
    /// The newest batch ever sent; batches up to it may have reached the server.
    var sentUpTo: Int
    /// Whether the server records the batches it has carried out.
    let hasLedger: Bool
    /// Whether documents have tags, and batches are based on them.
    let usesTags: Bool
    let makeName: () -> String
    /// Whether signing in again is impossible, so that listeners end with the session instead of waiting for the next one.
    let endsWithSession: Bool
    /// The acknowledgements since the last durable one.
    var unsettled = 0
    var writerFailures = 0
    var isWriterOverloaded = false
    var waiting = WaitingCalls()
    /// The newest batch, if it may be merged with the next one; forgotten with the machine.
    var lastMergeable: Int?
    /// The owner of the queue to use. Differs from the store's until the store can switch.
    var wantedOwner: QueueOwner

    // Why there is no traffic
    var isNetworkEnabled = true
    var isStoreFailing = false
    /// Operations that a failing store has not completed, oldest first.
    var undone: [() throws(StorageError) -> Void] = []
    var recoveries = 0

    /// - Parameters:
    ///   - isProvisional: As ``SyncDriver/isProvisional(_:)``; `nil` for a driver that makes no names.
    ///   - makeName: Makes the name of a new batch. It must never repeat, even if this store is restored from a copy.
    package init(
        store: any SyncStore, policy: CachePolicy, owner: QueueOwner, hasLedger: Bool = true,
        maximumLimboResolutions: Int = 100, maximumInFlight: Int = 10, hidesDocuments: Bool = false,
        usesTags: Bool = false, endsWithSession: Bool = false,
        isProvisional: ((StoragePath) -> Bool)? = nil,
        makeName: @escaping () -> String = SyncMachine.randomName
    ) throws(StorageError) {
        local = LocalStore(
            store: store, policy: policy, owner: owner, hidesDocuments: hidesDocuments, usesTags: usesTags,
            provisional: isProvisional.map { ProvisionalNames(isProvisional: $0) })
        self.maximumLimboResolutions = maximumLimboResolutions
        self.maximumInFlight = maximumInFlight
        self.hasLedger = hasLedger
        self.usesTags = usesTags
        self.endsWithSession = endsWithSession
        self.makeName = makeName
        wantedOwner = owner
        sentUpTo = 0
        try local.open()
        sentUpTo = local.globals.highestBatchNumber
    }

    /// 131 random bits. With sequential names, a restored backup would reuse them, and the ledger would mistake new batches
    /// for old.
    package static func randomName() -> String { RandomID.make(length: 22) }

    /// Call this once, before any event: resumes the existing queue.
    package func start() -> [SyncAction] {
        fillPipeline()
        return takeActions()
    }

    package func handle(_ event: SyncEvent) -> [SyncAction] {
        switch event {
        case .listen(let id, let query, let options): listen(id, query, options)
        case .unlisten(let id): unlisten(id)
        case .write(let token, let writes, let time): write(token, writes, at: time)
        case .writeMerging(let token, let writes, let time): writeMerging(token, writes, at: time)
        case .waitForPendingWrites(let token): wait(token)
        case .addInSyncListener(let id):
            inSyncListeners.append(id)
            emit(.inSync(id))
        case .removeInSyncListener(let id): inSyncListeners.removeAll { $0 == id }
        case .load(let bundle): load(bundle)
        case .cancelWrite(let id, let time): cancelWrite(id, at: time)
        case .dropWrite(let id, let time): dropWrite(id, at: time)
        case .retryWrites: retryWrites()
        case .setNetwork(let isEnabled): setNetwork(isEnabled)
        case .setUser(let owner): setUser(owner)
        case .endListeners(let error): endListeners(because: error)
        case .fetched(let fetched): _ = try? take(fetched)
        case .collectGarbage(let limits): _ = try? local.collectGarbage(limits)
        case .watchOpened: watchOpened()
        case .watched(let event): watched(event)
        case .watchClosed(let error): watchClosed(error)
        case .writerOpened: writerOpened()
        case .committed(let result): committed(result)
        case .writerClosed(let error, let time): writerClosed(error, at: time)
        case .timer(let timer): fire(timer)
        }
        return takeActions()
    }

    func emit(_ action: SyncAction) { actions.append(action) }

    func takeActions() -> [SyncAction] {
        defer { actions = [] }
        return actions
    }

    private func fire(_ timer: SyncTimer) {
        switch timer {
        case .onlineState:
            online.timedOut()
            onlineStateChanged()
        case .watchBackoff: if watch == .waiting { openWatch() }
        case .watchIdle: if watch == .open, listening.isEmpty { closeWatch() }
        case .writerBackoff: if writer == .waiting { openWriter() }
        case .writerIdle: if writer == .open, pipeline.isEmpty { closeWriter() }
        case .recovery: recover()
        case .overdue:
            hasOverdueTimer = false
            raise([:], toldUpTo: local.globals.lastSnapshotVersion)
        }
    }

    // MARK: Asked by the runner of the machine, and by tests

    package var onlineState: OnlineState { online.state }
    package var store: any SyncStore { local.store }
    package var owner: QueueOwner { local.owner }
    var lastUserID: String? { local.globals.lastUserID }
    var highestVersion: Timestamp { local.globals.highestVersion }
    package func targetID(of query: LiveQuery) -> Int? { views[query]?.target }
    package var batchesInFlight: Int { pipeline.count }
    package var activeLimboTargets: [StoragePath: Int] { limbo.active }
    package var enqueuedLimbo: [StoragePath] { limbo.waiting }
    package var hasListeners: Bool { !listeners.isEmpty || !inSyncListeners.isEmpty }
    /// Whether all requests have been answered: nothing is queued, and all views for which the server
    /// is asked are current.
    package var isQuiet: Bool { unrest.isEmpty }

    /// Descriptions of everything still unanswered.
    package var unrest: [String] {
        var unrest = views.values.filter { !$0.view.isSynced && hasServerListeners($0.view.query) }
            .map { "target \($0.target), current \($0.view.isCurrent)" }.sorted()
        if !undone.isEmpty { unrest.append("\(undone.count) operations that the store has refused") }
        if (try? local.highestBatchNumber()) != .some(nil) || !pipeline.isEmpty { unrest.append("queued writes") }
        return unrest
    }

    package func document(at path: StoragePath) throws(StorageError) -> DocumentSnapshot? {
        try checkOwner()
        return try local.document(at: path)
    }
    package func run(_ query: Query) throws(StorageError) -> [DocumentSnapshot] {
        try checkOwner()
        guard case .query(let query) = try local.named(.query(query)) else { return [] }
        let evaluator = QueryEvaluator(query)
        return try local.run(.query(query), usesConfirmed: false).documents.values
            .sorted { evaluator.ordering($0, $1) == .before }
    }
    package func namedQuery(_ name: String) throws(StorageError) -> Query? { try local.namedQuery(name)?.query }
    func hasQueue() throws(StorageError) -> Bool { try local.highestBatchNumber() != nil }
    package func queue() throws(StorageError) -> [QueuedBatch] {
        try checkOwner()
        return try local.batches()
    }
    package func refused() throws(StorageError) -> [RefusedBatch] {
        try checkOwner()
        return try local.refusedBatches()
    }
    package func close() { local.store.close() }
}

enum StreamState {
    case stopped
    /// After a failure, until its timer fires.
    case waiting
    case opening
    case open

    var isStarted: Bool { self != .stopped }
}

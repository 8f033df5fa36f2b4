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

    // What is listened to
    var listeners: [Int: Listener] = [:]
    /// The listeners of each query, in the order of their coming.
    var listenerIDs: [LiveQuery: [Int]] = [:]
    var views: [LiveQuery: OpenView] = [:]
    /// The queries on each target, in the order of their coming.
    var queriesByTarget: [Int: [LiveQuery]] = [:]
    var inSyncListeners: [Int] = []
    var hasOverdueTimer = false

    // The stream of changes
    var watch = StreamState.stopped
    var aggregator = WatchAggregator()
    /// The targets to watch, with their newest tokens: queries and look-ups of single documents.
    var listening: [Int: TargetRequest] = [:]
    /// The versions in which documents were known when their targets were asked for.
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
    /// The batches that come next: read many at a time, not one with each acknowledgement.
    var ahead: ArraySlice<QueuedBatch> = []
    /// The newest batch that was ever sent from here; those not above it may have reached the server.
    var sentUpTo: Int
    /// Whether the server knows which batches it has had.
    let hasLedger: Bool
    let makeName: () -> String
    /// Whether nobody can sign in again, so that listeners end with the session instead of waiting for the next one.
    let endsWithSession: Bool
    /// The acknowledgements since the last that was made durable.
    var unsettled = 0
    var writerFailures = 0
    var isWriterOverloaded = false
    var waiting = WaitingCalls()
    /// Whose queue is to be worked on. Another one than the store's for as long as that cannot go over to it.
    var wantedOwner: QueueOwner

    // Why there is no traffic
    var isNetworkEnabled = true
    var isStoreFailing = false
    /// What a failing store has left undone, oldest first.
    var undone: [() throws(StorageError) -> Void] = []
    var recoveries = 0

    /// - Parameter makeName: The name of a new batch: never one that was there before, in whatever state this store, or a copy
    ///   of it, was found again.
    package init(
        store: any SyncStore, policy: CachePolicy, owner: QueueOwner, hasLedger: Bool = true,
        maximumLimboResolutions: Int = 100, maximumInFlight: Int = 10, hidesDocuments: Bool = false,
        endsWithSession: Bool = false,
        makeName: @escaping () -> String = SyncMachine.randomName
    ) throws(StorageError) {
        local = LocalStore(store: store, policy: policy, owner: owner, hidesDocuments: hidesDocuments)
        self.maximumLimboResolutions = maximumLimboResolutions
        self.maximumInFlight = maximumInFlight
        self.hasLedger = hasLedger
        self.endsWithSession = endsWithSession
        self.makeName = makeName
        wantedOwner = owner
        sentUpTo = 0
        try local.open()
        sentUpTo = local.globals.highestBatchNumber
    }

    /// 131 random bits. Counted names would come back with a restored backup, and the ledger would take new batches for old.
    package static func randomName() -> String { RandomID.make(length: 22) }

    /// To be called once, before any event: takes up the queue that is there.
    package func start() -> [SyncAction] {
        fillPipeline()
        return takeActions()
    }

    package func handle(_ event: SyncEvent) -> [SyncAction] {
        switch event {
        case .listen(let id, let query, let options): listen(id, query, options)
        case .unlisten(let id): unlisten(id)
        case .write(let token, let writes, let time): write(token, writes, at: time)
        case .waitForPendingWrites(let token): wait(token)
        case .addInSyncListener(let id):
            inSyncListeners.append(id)
            emit(.inSync(id))
        case .removeInSyncListener(let id): inSyncListeners.removeAll { $0 == id }
        case .load(let bundle): load(bundle)
        case .cancelWrite(let id): cancelWrite(id)
        case .retryWrites: retryWrites()
        case .resolveRefused(let id, let writes, let time): resolveRefused(id, requeuing: writes, at: time)
        case .setNetwork(let isEnabled): setNetwork(isEnabled)
        case .setUser(let owner): setUser(owner)
        case .fetched(let fetched): _ = take(fetched)
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
    package func targetID(of query: LiveQuery) -> Int? { views[query]?.target }
    package var batchesInFlight: Int { pipeline.count }
    package var activeLimboTargets: [StoragePath: Int] { limbo.active }
    package var enqueuedLimbo: [StoragePath] { limbo.waiting }
    package var hasListeners: Bool { !listeners.isEmpty || !inSyncListeners.isEmpty }
    /// Whether everything that was asked for has its answer: nothing queued, all views current.
    package var isQuiet: Bool { unrest.isEmpty }

    /// What has no answer yet, in words.
    package var unrest: [String] {
        var unrest = views.values.filter { !$0.view.isSynced }
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

package import Switchyard
import SwitchyardBytes

/// Runs the machine: owns its store, its timers and its two streams, and feeds it one event at a time.
///
/// Its tasks are detached. They serve every caller, so they must not end at the deadline of the request that started them.
package actor SyncEngine {
    typealias Listen = @Sendable (Result<ViewSnapshot, StorageError>) -> Void

    /// A requested stream of results.
    struct OpenListen {
        let query: LiveQuery
        let options: ViewOptions
        let deliver: Listen
    }

    let driver: any SyncDriver
    private let storage: @Sendable () throws(StorageError) -> any SyncStore
    private let policy: CachePolicy
    private let endsWithSession: Bool
    let clock: any Clock<Duration>
    private let now: @Sendable () -> Timestamp
    let chance: @Sendable () -> Double
    let report: @Sendable (InfrastructureEvent.Kind) -> Void
    /// Announces to other processes that the server has committed something.
    private var announce: @Sendable () -> Void = {}
    private(set) var owner: QueueOwner
    /// Outlives the machine, which is replaced when the store is cleared.
    private(set) var isNetworkEnabled = true
    private(set) var openMachine: SyncMachine?
    /// The emptied store, waiting for its next machine, with the calls that still wait for answers.
    private var emptied: (store: any SyncStore, waiting: WaitingCalls)?
    private(set) var isShutDown = false
    /// Whether the driver knows the store's versions.
    private(set) var hasBegun = false

    // Waiting calls and streams
    var listens: [Int: OpenListen] = [:]
    var inSync: [Int: EventStream<Void, StorageError>.Continuation] = [:]
    var queueWatchers = QueueWatchers()
    var statusWatchers = StatusWatchers()
    var refusals: [Int: SnapshotStream<[RefusedWrite], StorageError>.Continuation] = [:]
    var writes = OpenWrites()
    private var waits: [Int: Promise<Result<Void, StorageError>>] = [:]
    private var lastToken = 0

    // Time and streams
    var timers: [SyncTimer: SetTimer] = [:]
    var timerGeneration = 0
    private var collector: Task<Void, Never>?
    var watchTask: Task<Void, Never>?
    var connection: (any WatchConnection)?
    var watchGeneration = 0
    var writerGeneration = 0
    var outbox: [OutgoingBatch] = []
    /// The names of batches that were abandoned before they were sent.
    var unsentBatchIDs: Set<String> = []
    /// Batches of an earlier generation may be another user's, or deleted, and are not held back.
    private(set) var firstHeldGeneration = 0
    let sendingGate = SendingGate()
    var committing: Task<Void, Never>?
    var isCommitting = false
    var trouble: SendFailure?
    /// Why reads currently fall back to the cache, if they do.
    var lastReadFailure: InfrastructureEvent.Failure?
    /// How many of the next batches must not share a request, because a shared one was refused or stopped before them.
    var unmergedBatchCount = 0
    static let maximumMergedWrites = 200
    /// How many writes may be encoded between two transfers.
    static let fewWrites = 20
    /// The maximum number of batches in flight to a server that accepts several in one request.
    static let mergedInFlight = 32
    /// The reads that wait for the server.
    var openReads: [Int: OpenRead] = [:]
    var lastRead = 0

    /// - Parameters:
    ///   - claim: The claim on the storage's folder, if already taken.
    ///   - endsWithSession: Whether streams end with the session, since signing in again is not possible.
    ///   - chance: A random number from 0 to 1: pauses vary, so that not all devices reconnect at the same moment.
    init(
        _ driver: any SyncDriver, _ storage: SyncStorage, claim: StoreClaim? = nil, userID: String?,
        clock: any Clock<Duration>, now: @escaping @Sendable () -> Timestamp,
        observer: any InfrastructureObserver = SilentObserver(), endsWithSession: Bool = false,
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.init(
            driver: driver, policy: storage.policy, userID: userID, endsWithSession: endsWithSession, clock: clock,
            now: now, chance: chance,
            report: { [provider = driver.provider] kind in
                observer.observe(InfrastructureEvent(service: .storage, provider: provider, kind: kind))
            }
        ) { () throws(StorageError) in
            if let claim { return try SQLiteStore(claim) }
            return try storage.open()
        }
    }

    package init(
        driver: any SyncDriver, policy: CachePolicy, userID: String?, endsWithSession: Bool = false,
        clock: any Clock<Duration>, now: @escaping @Sendable () -> Timestamp, chance: @escaping @Sendable () -> Double,
        report: @escaping @Sendable (InfrastructureEvent.Kind) -> Void = { _ in },
        storage: @escaping @Sendable () throws(StorageError) -> any SyncStore
    ) {
        self.driver = driver
        self.policy = policy
        self.endsWithSession = endsWithSession
        self.clock = clock
        self.now = now
        self.chance = chance
        self.report = report
        self.storage = storage
        owner = QueueOwner(userID)
    }

    var timestamp: Timestamp { now() }
    var isOpen: Bool { openMachine != nil && !isShutDown }
    var keepsOnDisk: Bool { openMachine?.store is SQLiteStore }

    /// The machine; opens its store at the first call.
    func machine() throws(StorageError) -> SyncMachine {
        if isShutDown { throw StorageError(.shutDown, "The client was shut down.") }
        if let openMachine { return openMachine }
        let store: any SyncStore
        if let emptied {
            store = emptied.store
        } else {
            store = try storage()
            reportSetAside(in: store)
        }
        let machine = try SyncMachine(
            store: store, policy: policy, owner: owner,
            hasLedger: driver.traits.hasLedger,
            maximumInFlight: driver.traits.mergesBatches ? SyncEngine.mergedInFlight : 10,
            hidesDocuments: driver.traits.hidesDocuments, usesTags: driver.traits.usesTags,
            endsWithSession: endsWithSession,
            isProvisional: driver.traits.makesNames ? { [driver] in driver.isProvisional($0) } : nil)
        openMachine = machine
        if !hasBegun {
            hasBegun = true
            driver.begin(after: machine.highestVersion)
        }
        if let emptied { machine.waiting = emptied.waiting }
        emptied = nil
        if policy != .eager { startCollector() }
        if !isNetworkEnabled { perform(machine.handle(.setNetwork(isEnabled: false))) }
        perform(machine.start())
        return machine
    }

    package func feed(_ event: SyncEvent) {
        guard let machine = openMachine, !isShutDown else { return }
        perform(machine.handle(event))
    }

    func perform(_ actions: [SyncAction]) {
        var queueChanges: [QueueChange] = []
        var showsRefusals = false
        for action in actions {
            switch action {
            case .snapshot(let id, let snapshot): listens[id]?.deliver(.success(snapshot))
            case .listenFailed(let id, let error): listens.removeValue(forKey: id)?.deliver(.failure(error))
            case .inSync(let id): inSync[id]?.yield(())
            case .writeQueued(let token, let id): writes.queued(token, as: id)
            case .writeSuperseded(let token, let id): writes.supersede(token, by: id)
            case .writeFinished(let token, let result): writes.finish(token, result)
            case .waitFinished(let token, let result): waits.removeValue(forKey: token)?.resolve(result)
            case .queueChanged(let change): queueChanges.append(change)
            case .refusedChanged(let new):
                showsRefusals = true
                if let new {
                    report(
                        .writeRefused(paths: new.writes.map(\.path.rawValue), failure: .init(new.code, new.message)))
                }
            case .openWatch:
                if let machine = openMachine, machine.watchFailures > 0 {
                    report(
                        .reconnect(
                            operation: "live streams", attempt: machine.watchFailures,
                            failure: machine.lastWatchError.map { .init($0) }))
                }
                openWatch()
            case .sendWatch(let request): connection?.send(request)
            case .closeWatch: closeWatch()
            case .openWriter: openWriter()
            case .sendWrite(let batch): send(batch)
            case .closeWriter: closeWriter()
            case .schedule(let timer, let delay): schedule(timer, delay)
            case .cancel(let timer): cancel(timer)
            }
        }
        showQueue(queueChanges)
        if showsRefusals, !refusals.isEmpty || statusWatchers.count > 0, let list = try? refusedWrites() {
            for continuation in refusals.values { continuation.yield(list) }
            statusWatchers.firstRejection = list.first?.error
        }
        showStatus()
    }

    private func startCollector() {
        collector?.cancel()
        collector = Task.detached { [weak self, clock] in
            var pause = Duration.seconds(60)
            while (try? await clock.sleep(for: pause)) != nil {
                await self?.feed(.collectGarbage(nil))
                pause = .seconds(300)
            }
        }
    }

    // MARK: Writing

    /// - Parameters:
    ///   - merges: Whether the batch may be merged with waiting ones.
    ///   - expected: The expected owner of the queue; `nil` for any.
    func write(
        _ batch: [DocumentWrite], merging merges: Bool = false, of expected: QueueOwner? = nil
    ) throws(StorageError) -> (id: String, answer: OpenWrites.Answer, progress: WriteProgress) {
        guard expected == nil || expected == owner else { throw .writerLeft }
        let machine = try machine()
        lastToken += 1
        let token = lastToken
        writes.open(token, batch)
        var failure: StorageError?
        let actions = machine.handle(
            merges ? .writeMerging(token, batch, at: now()) : .write(token, batch, at: now()))
        for case .writeFinished(token, .failure(let error)) in actions { failure = error }
        // Taken first: what the machine does may already end the write.
        for case .writeQueued(token, let id) in actions { writes.queued(token, as: id) }
        let receipt = writes.receipt(token)
        perform(actions)
        if let failure { throw failure }
        return receipt ?? ("", OpenWrites.Answer(), WriteProgress())
    }

    func waitForPendingWrites() throws(StorageError) -> Promise<Result<Void, StorageError>> {
        let machine = try machine()
        lastToken += 1
        let promise = Promise<Result<Void, StorageError>>()
        waits[lastToken] = promise
        perform(machine.handle(.waitForPendingWrites(lastToken)))
        return promise
    }

    // MARK: Other processes

    /// - Parameter announce: Called when the server has committed writes of this client.
    func announceCommits(by announce: @escaping @Sendable () -> Void) { self.announce = announce }

    func committed() { announce() }

    /// Another process has written to the server: its changes are on their way, unless the stream is closed or has to ask.
    func checkForChanges() {
        guard isOpen, isNetworkEnabled else { return }
        if timers[.watchBackoff] != nil {
            cancel(.watchBackoff)
            feed(.timer(.watchBackoff))
        }
        driver.checkForChanges()
    }

    // MARK: Life

    /// Sets the owner of the queue.
    func setUser(_ userID: String?) {
        let isOther = owner != QueueOwner(userID)
        owner = QueueOwner(userID)
        trouble = nil
        feed(.setUser(owner))
        if isOther { forgetHeldBack() }
    }

    /// Without their names, the ledger is asked for batches that were never sent.
    private func forgetHeldBack() {
        unsentBatchIDs = []
        firstHeldGeneration = writerGeneration
    }

    /// Ends all streams, which show what a user may see whose session the server has ended.
    func endStreams(because error: StorageError) { feed(.endListeners(error)) }

    func setNetwork(isEnabled: Bool) throws(StorageError) {
        let isChanged = isNetworkEnabled != isEnabled
        isNetworkEnabled = isEnabled
        try handle(.setNetwork(isEnabled: isEnabled))
        // The reason why writes wait has changed.
        if isChanged {
            statusWatchers.forgetContact()
            if queueWatchers.isFollowed { queueWatchers.show(try pendingWrites()) }
            showStatus()
        }
    }

    func clear() throws(StorageError) {
        guard try !machine().hasListeners else {
            throw StorageError(.failedPrecondition, "Close all streams before deleting the data on this device.")
        }
        try empty(keeping: WaitingCalls()) { store throws(StorageError) in try store.clear() }
        if listenerCount > 0 { try restart() }
    }

    /// Deletes the cache and one user's queue on this device. Open streams see the documents disappear and start over. The
    /// queues of other users stay and are still sent, and callers keep waiting for them.
    ///
    /// - Parameter owner: The user whose data to delete; by default, the current one.
    func wipe(of owner: QueueOwner? = nil) throws(StorageError) {
        let owner = owner ?? self.owner
        var others = try machine().waiting
        others.writes = others.writes.filter { $0.value.owner != owner }
        // Callers that wait for the queue wait for that of the current user.
        if owner == self.owner { others.queue = [] }
        try empty(keeping: others) { store throws(StorageError) in try store.wipe(of: owner) }
        // Even without waiting calls: the writes of other users are still sent.
        try restart()
    }

    /// The same for the last signed-in user, unless it was done and no one has signed in since.
    func wipeLastUser() throws(StorageError) {
        if let userID = try machine().lastUserID { try wipe(of: QueueOwner(userID)) }
    }

    private func empty(
        keeping waiting: WaitingCalls, _ body: (any SyncStore) throws(StorageError) -> Void
    ) throws(StorageError) {
        let old = try machine()
        perform(old.handle(.setNetwork(isEnabled: false)))
        do throws(StorageError) { try body(old.store) } catch {
            perform(old.handle(.setNetwork(isEnabled: isNetworkEnabled)))
            throw error
        }
        openMachine = nil
        trouble = nil
        emptied = (old.store, waiting)
        forgetHeldBack()
        cancelTimers()
        failCalls(StorageError(.cancelled, "The data on this device was deleted."), but: waiting.tokens)
        perform(old.emptySnapshots())
    }

    private func restart() throws(StorageError) {
        do throws(StorageError) {
            let machine = try machine()
            for (id, listen) in listens.sorted(by: { $0.key < $1.key }) {
                perform(machine.handle(.listen(id, listen.query, listen.options)))
            }
            for id in inSync.keys.sorted() { perform(machine.handle(.addInSyncListener(id))) }
            queueWatchers.show(try pendingWrites())
            perform([.refusedChanged()])
        } catch {
            failAll(error)
            throw error
        }
    }

    func shutDown() {
        guard !isShutDown else { return }
        if let machine = openMachine { perform(machine.handle(.setNetwork(isEnabled: false))) }
        isShutDown = true
        committing?.cancel()
        collector?.cancel()
        cancelTimers()
        let store = openMachine?.store ?? emptied?.store
        store?.close()
        openMachine = nil
        emptied = nil
        if store is SQLiteStore {
            writes.fail(SyncEngine.stillQueued)
        }
        failAll(StorageError(.shutDown, "The client was shut down."))
    }

    private static let stillQueued = StorageError(
        .shutDown,
        "The client was shut down. The write stays in the queue on this device, and is sent once the provider is used again."
    )

    private func cancelTimers() {
        for timer in timers.values { timer.task.cancel() }
        timers = [:]
    }

    private func failAll(_ error: StorageError) {
        let (oldListens, oldInSync, oldRefusals) = (listens, inSync, refusals)
        (listens, inSync, refusals) = ([:], [:], [:])
        for listen in oldListens.values { listen.deliver(.failure(error)) }
        for continuation in oldInSync.values { continuation.finish(throwing: error) }
        statusWatchers.finish()
        for continuation in queueWatchers.removeAll() { continuation.finish(throwing: error) }
        for continuation in oldRefusals.values { continuation.finish(throwing: error) }
        failCalls(error)
    }

    /// - Parameter kept: The calls that are not affected.
    private func failCalls(_ error: StorageError, but kept: Set<Int> = []) {
        writes.fail(error, but: kept)
        for (token, promise) in waits where !kept.contains(token) { promise.resolve(.failure(error)) }
        waits = waits.filter { kept.contains($0.key) }
    }
}

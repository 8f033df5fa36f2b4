import Foundation
import Switchyard
import SwitchyardSync
import SwitchyardTestSupport

/// The engine of a scenario and the fake network around it: streams that open at once, timers that fire on demand.
final class SpecWorld {
    enum Configuration: String, CaseIterable { case memory, sqlite }
    enum Outcome {
        case snapshot(ViewSnapshot)
        case failure(StorageError)
    }

    private let policy: CachePolicy
    private let limboLimit: Int
    private let folder: URL?
    private var store: FailingStore!
    private(set) var machine: SyncMachine!
    private(set) var user: String?

    // What the fakes hold
    private(set) var activeTargets: [Int: TargetRequest] = [:]
    private(set) var sent: [OutgoingBatch] = []
    private(set) var watchRequests = 0
    private(set) var writeRequests = 0
    private var isWriterOpen = false
    private(set) var isWatchOpen = false
    private(set) var isNetworkEnabled = true
    private(set) var isStopped = false
    private var timers: [SyncTimer: SyncDelay] = [:]
    private var holdsBackoff = false
    private var outstanding: [String?: [DocumentWrite]] = [:]
    private var listeners: [LiveQuery: Int] = [:]
    private var queries: [Int: LiveQuery] = [:]
    private var inSyncListeners: [Int] = []
    private var writtenPaths: [Int: StoragePath] = [:]
    private var queued: Set<Int> = []
    private var lastToken = 0

    // What one step caused
    var events: [(query: LiveQuery, outcome: Outcome)] = []
    var acknowledged: [String] = []
    var rejected: [String] = []
    var inSync = 0
    var waitsFinished = 0

    init(_ configuration: Configuration, isEager: Bool, limboLimit: Int?) throws {
        self.limboLimit = limboLimit ?? .max
        switch configuration {
        case .memory:
            folder = nil
            policy = isEager ? .eager : .standard
        case .sqlite:
            let folder = ScratchSpace.url.appendingPathComponent("spec-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            self.folder = folder
            policy = .standard
        }
        store = FailingStore(try makeStore())
        try start()
    }

    private func makeStore() throws -> any SyncStore {
        guard let folder else { return MemoryStore() }
        return try SQLiteStore(folder: folder)
    }

    private func start() throws {
        machine = try SyncMachine(
            store: store, policy: policy, owner: QueueOwner(user), maximumLimboResolutions: limboLimit)
        process(machine.start())
    }

    /// The client ends in an orderly way; what it has stored stays.
    func stop() {
        guard !isStopped else { return }
        feed(.setNetwork(isEnabled: false))
        isStopped = true
        machine.close()
    }

    func clearPersistence() throws {
        stop()
        store = FailingStore(try makeStore())
        try store.clear()
        store.close()
    }

    func shutDown() {
        if !isStopped { machine.close() }
        if let folder { try? FileManager.default.removeItem(at: folder) }
    }

    func restart() throws {
        machine = nil
        activeTargets = [:]
        sent = []
        (watchRequests, writeRequests, isWriterOpen, isNetworkEnabled) = (0, 0, false, true)
        (timers, listeners, queries, inSyncListeners) = ([:], [:], [:], [])
        isStopped = false
        if folder != nil {
            store.close()
            store = FailingStore(try makeStore())
        }
        try start()
    }

    func beginStep() {
        (events, acknowledged, rejected, inSync, waitsFinished) = ([], [], [], 0, 0)
    }

    // MARK: The fakes

    func feed(_ event: SyncEvent) { process(machine.handle(event)) }

    private func process(_ actions: [SyncAction]) {
        var answers: [SyncEvent] = []
        for action in actions {
            switch action {
            case .snapshot(let id, let snapshot): events.append((queries[id]!, .snapshot(snapshot)))
            case .listenFailed(let id, let error):
                events.append((queries[id]!, .failure(error)))
                listeners[queries[id]!] = nil
            case .inSync: inSync += 1
            case .writeQueued(let token, _): queued.insert(token)
            case .queueChanged, .refusedChanged, .writeSuperseded: break
            case .writeFinished(let token, let result):
                let path = writtenPaths[token]!.rawValue
                if case .success = result { acknowledged.append(path) } else { rejected.append(path) }
            case .waitFinished: waitsFinished += 1
            case .openWatch:
                isWatchOpen = true
                answers.append(.watchOpened)
            case .sendWatch(.add(let target)):
                activeTargets[target.id] = target
                watchRequests += 1
            case .sendWatch(.remove(let id)):
                activeTargets[id] = nil
                watchRequests += 1
            case .closeWatch:
                isWatchOpen = false
                activeTargets = [:]
            case .openWriter:
                isWriterOpen = true
                writeRequests += 1
                answers.append(.writerOpened)
            case .sendWrite(let batch):
                sent.append(batch)
                writeRequests += 1
            case .closeWriter:
                if isWriterOpen { writeRequests += 1 }
                isWriterOpen = false
                sent = []
            case .schedule(let timer, let delay):
                switch timer {
                case .watchBackoff, .writerBackoff:
                    if holdsBackoff { timers[timer] = delay } else { answers.append(.timer(timer)) }
                default: timers[timer] = delay
                }
            case .cancel(let timer): timers[timer] = nil
            }
        }
        for answer in answers { feed(answer) }
    }

    /// Everything that is due before the named timer, and that one.
    func run(_ timer: SyncTimer?) {
        let due = timers.sorted { $0.value.seconds < $1.value.seconds }
        for (name, _) in due where timers[name] != nil {
            timers[name] = nil
            feed(.timer(name))
            if name == timer { return }
        }
    }

    // MARK: The user

    func listen(_ query: LiveQuery, _ options: ViewOptions) {
        lastToken += 1
        listeners[query] = lastToken
        queries[lastToken] = query
        feed(.listen(lastToken, query, options))
    }

    func unlisten(_ query: LiveQuery) {
        guard let id = listeners.removeValue(forKey: query) else { return }
        feed(.unlisten(id))
    }

    func write(_ write: DocumentWrite) {
        lastToken += 1
        writtenPaths[lastToken] = write.path
        outstanding[user, default: []].append(write)
        let token = lastToken
        feed(.write(token, [write], at: Timestamp(microseconds: 1)))
        if !queued.contains(token) { outstanding[user]?.removeLast() }
    }

    func wait() {
        lastToken += 1
        feed(.waitForPendingWrites(lastToken))
    }

    func addInSyncListener() {
        lastToken += 1
        inSyncListeners.append(lastToken)
        feed(.addInSyncListener(lastToken))
    }

    func removeInSyncListener() {
        if let id = inSyncListeners.popLast() { feed(.removeInSyncListener(id)) }
    }

    func setUser(_ user: String?) {
        self.user = user
        feed(.setUser(QueueOwner(user)))
    }

    func setNetwork(_ isEnabled: Bool) {
        isNetworkEnabled = isEnabled
        feed(.setNetwork(isEnabled: isEnabled))
    }

    func fail(_ operations: Set<StoreOperation>) { store.failing = operations }

    // MARK: The backend

    func closeWatch(_ error: StorageError, runsBackoff: Bool) throws {
        activeTargets = [:]
        isWatchOpen = false
        holdsBackoff = !runsBackoff
        feed(.watchClosed(error))
        holdsBackoff = false
    }

    func refuse(_ ids: [Int], _ error: StorageError) throws {
        for id in ids {
            guard activeTargets.removeValue(forKey: id) != nil else {
                throw SpecFailure("target \(id) is refused and was not active")
            }
        }
        feed(.watched(.removed(ids, cause: error)))
    }

    /// The oldest request without an answer, checked against what the user wrote.
    private func nextSent(keepsInQueue: Bool) throws {
        guard let batch = sent.first, batch.writes.count == 1 else {
            throw SpecFailure("no write of one document is on its way")
        }
        guard batch.writes[0] == outstanding[user]?.first else { throw SpecFailure("another write was sent") }
        if !keepsInQueue { outstanding[user]?.removeFirst() }
        sent.removeFirst()
    }

    func acknowledge(_ version: Timestamp, keepsInQueue: Bool) throws {
        try nextSent(keepsInQueue: keepsInQueue)
        feed(.committed(CommitResult(commitTime: version, updateTimes: [version])))
    }

    func failWrite(_ error: StorageError, keepsInQueue: Bool) throws {
        try nextSent(keepsInQueue: keepsInQueue)
        sent = []
        isWriterOpen = false
        feed(.writerClosed(error, at: Timestamp(microseconds: 1)))
    }
}

extension SyncDelay {
    fileprivate var seconds: Int {
        switch self {
        case .seconds(let seconds): seconds
        case .backoff: 1
        }
    }
}

import Switchyard
import SwitchyardSync

/// One device of the simulation: a machine, a store that outlives it, and its ends of the two streams.
final class SimClient {
    let name: String
    private let store = MemoryStore()
    private let policy: CachePolicy
    private var generation = 0
    private(set) var machine: SyncMachine
    private(set) var user: String? = "alice"
    private(set) var isNetworkEnabled = true
    private(set) var isWatchOpening = false
    private(set) var isWriterOpening = false
    var stream: SimStream?
    /// Batches on their way to the server, and answers on their way back.
    var outbox: [OutgoingBatch] = []
    var answers: [Result<CommitResult, StorageError>] = []
    private(set) var timers: Set<SyncTimer> = []
    private(set) var listeners: [Int: LiveQuery] = [:]
    private(set) var shown: [Int: ViewSnapshot] = [:]
    private var requests: [WatchRequest] = []
    private(set) var queued: [String] = []
    private(set) var acknowledged = 0
    private var lastToken = 0
    /// Grows with everything that is asked of the outside: equal for equal runs.
    private(set) var trace = ""

    init(_ name: String, policy: CachePolicy) throws {
        self.name = name
        self.policy = policy
        machine = try SyncMachine(store: store, policy: policy, owner: QueueOwner("alice"), storeID: name)
        perform(machine.start())
    }

    func feed(_ event: SyncEvent) { perform(machine.handle(event)) }

    private func perform(_ actions: [SyncAction]) {
        for action in actions {
            switch action {
            case .snapshot(let id, let snapshot):
                shown[id] = snapshot
                note("snapshot \(id) \(snapshot.documents.map(\.path)) \(snapshot.isFromCache)")
            case .listenFailed(let id, _): listeners[id] = nil
            case .writeQueued(_, let id): queued.append(id)
            case .writeFinished(_, .success): acknowledged += 1
            case .inSync, .writeFinished, .waitFinished, .queueChanged, .refusedChanged: break
            case .openWatch: isWatchOpening = true
            case .sendWatch(let request):
                requests.append(request)
                note("\(request)")
            case .closeWatch:
                stream = nil
                isWatchOpening = false
                requests = []
            case .openWriter: isWriterOpening = true
            case .sendWrite(let batch):
                outbox.append(batch)
                note("send \(batch.id) \(batch.mayHaveBeenSent)")
            case .closeWriter:
                isWriterOpening = false
                outbox = []
                answers = []
            case .schedule(let timer, _): timers.insert(timer)
            case .cancel(let timer): timers.remove(timer)
            }
        }
    }

    private func note(_ text: String) { trace += "\(name): \(text)\n" }

    // MARK: The user

    func listen(_ query: LiveQuery, fromCache: Bool) {
        lastToken += 1
        listeners[lastToken] = query
        feed(.listen(lastToken, query, ListenerOptions(readsCacheOnly: fromCache)))
        if fromCache { listeners[lastToken] = nil; feed(.unlisten(lastToken)) }
    }

    func unlisten(_ id: Int) {
        listeners[id] = nil
        shown[id] = nil
        feed(.unlisten(id))
    }

    func write(_ writes: [DocumentWrite]) {
        lastToken += 1
        feed(.write(lastToken, writes, at: Timestamp(microseconds: 5)))
    }

    func setUser(_ user: String?) {
        self.user = user
        feed(.setUser(QueueOwner(user)))
    }

    func setNetwork(_ isEnabled: Bool) {
        isNetworkEnabled = isEnabled
        feed(.setNetwork(isEnabled: isEnabled))
    }

    /// The process ends without a word and begins anew over what was stored.
    func restart() throws {
        (stream, outbox, answers, timers, listeners, shown, requests) = (nil, [], [], [], [:], [:], [])
        (isWatchOpening, isWriterOpening, isNetworkEnabled) = (false, false, true)
        machine = try SyncMachine(store: store, policy: policy, owner: QueueOwner(user), storeID: name)
        perform(machine.start())
    }

    // MARK: The network

    func openWatch() {
        guard isWatchOpening else { return }
        isWatchOpening = false
        stream = SimStream()
        feed(.watchOpened)
    }

    func openWriter() {
        guard isWriterOpening else { return }
        isWriterOpening = false
        feed(.writerOpened)
    }

    func breakWatch() {
        guard stream != nil || isWatchOpening else { return }
        stream = nil
        isWatchOpening = false
        requests = []
        feed(.watchClosed(StorageError(.unavailable, "broken")))
    }

    /// - Returns: What was on its way, and may still arrive.
    func breakWriter(_ error: StorageError = StorageError(.unavailable, "broken")) -> [OutgoingBatch] {
        let lost = outbox
        outbox = []
        answers = []
        isWriterOpening = false
        feed(.writerClosed(error, at: Timestamp(microseconds: 5)))
        return lost
    }

    func passRequests(to server: SimServer) {
        let waiting = requests
        requests = []
        for request in waiting { stream?.take(request, server) }
    }

    func deliverEvent(isDoubled: Bool) {
        guard let event = stream?.inbox.first else { return }
        stream!.inbox.removeFirst()
        feed(.watched(event))
        guard isDoubled, stream != nil else { return }
        switch event {
        case .changed, .deleted, .left, .snapshot, .token: feed(.watched(event))
        default: break
        }
    }

    func deliverAnswer() {
        guard !answers.isEmpty else { return }
        switch answers.removeFirst() {
        case .success(let result): feed(.committed(result))
        case .failure(let error): _ = breakWriter(error)
        }
    }

    func fire(_ timer: SyncTimer) {
        guard timers.remove(timer) != nil else { return }
        feed(.timer(timer))
    }

    var isIdle: Bool {
        !isWatchOpening && !isWriterOpening && outbox.isEmpty && answers.isEmpty && requests.isEmpty
            && stream?.inbox.isEmpty ?? true
    }
}

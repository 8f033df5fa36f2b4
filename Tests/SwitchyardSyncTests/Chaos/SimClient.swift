import Switchyard

@testable import SwitchyardSync

/// One device of the simulation: a machine, a store that outlives it, and its ends of the two streams.
final class SimClient {
    let name: String
    private let makeStore: () throws -> any SyncStore
    private let names: BatchNames
    private var store: FlakyStore
    let policy: CachePolicy
    private let tables: SimTables
    private(set) var machine: SyncMachine
    private(set) var user: String? = "alice"
    private(set) var isNetworkEnabled = true
    private(set) var isWatchOpening = false
    private(set) var isWriterOpening = false
    var stream: SimStream?
    /// Batches on their way to the server, and answers on their way back.
    var outbox: [OutgoingBatch] = []
    var answers: [(batch: OutgoingBatch, result: Result<CommitResult, StorageError>)] = []
    /// One-time reads whose answers are on their way.
    private var reads: [SimRead] = []
    /// A read whose answer did not show the writes of this device.
    private(set) var wrongRead: StoragePath?
    private(set) var timers: Set<SyncTimer> = []
    private(set) var listeners: [Int: LiveQuery] = [:]
    private(set) var shown: [Int: ViewSnapshot] = [:]
    /// The first whose order, or whose changes after the one before, were not right.
    private(set) var wrongSnapshot: ViewSnapshot?
    private var requests: [WatchRequest] = []
    /// The first attempt at each batch, and a batch that was sent as another one or as if for the first time.
    private var sent: [String: OutgoingBatch] = [:]
    private(set) var wrongBatch: String?
    /// What was ever queued, and by whom.
    private(set) var queued: [(id: String, user: String?)] = []
    /// What was ever added under a local name.
    private(set) var added: [Addition] = []
    /// What was queued and deleted with all of its user's data; it may still have reached the server.
    private(set) var wiped: Set<String> = []
    /// Rejected batches that the user has decided about.
    private(set) var resolved: Set<String> = []
    /// Batches that were merged into later ones before they were sent, with those.
    private(set) var superseded: [String: String] = [:]
    private var batchIDs: [Int: String] = [:]
    /// The device's clock, which its user may set to any time.
    var now = Timestamp(microseconds: 5)
    /// The first document whose pending writes did not fit the cache when a user came.
    private(set) var wrongOverlay: StoragePath?
    private var options: [Int: ViewOptions] = [:]

    struct Addition {
        let path: StoragePath
        let id: String
        let user: String?
    }

    private(set) var waits: Set<Int> = []
    private var lastToken = 0
    private(set) var trace: Trace

    /// - Parameter makeStore: Opens the store; what an earlier one has kept must be there again.
    init(
        _ name: String, policy: CachePolicy, tables: SimTables, keepsTrace: Bool,
        makeStore: @escaping () throws -> any SyncStore
    ) throws {
        self.tables = tables
        self.name = name
        self.policy = policy
        self.makeStore = makeStore
        let names = BatchNames(of: name)
        self.names = names
        trace = Trace(keepsText: keepsTrace)
        store = FlakyStore(try makeStore())
        machine = try SyncMachine(
            store: store, policy: policy, owner: QueueOwner("alice"), usesTags: tables != .none,
            isProvisional: \.isLocal, makeName: names.next)
        perform(machine.start())
    }

    func feed(_ event: SyncEvent) { perform(machine.handle(event)) }

    private func perform(_ actions: [SyncAction]) {
        for action in actions {
            switch action {
            case .snapshot(let id, let snapshot):
                if !snapshot.leads(from: shown[id], inOrder: !tables.have(snapshot.query)), wrongSnapshot == nil {
                    wrongSnapshot = snapshot
                }
                shown[id] = snapshot
                note("snapshot", id, snapshot.isFromCache ? 1 : 0)
                for document in snapshot.documents { note(document.path.rawValue) }
            case .listenFailed(let id, _):
                listeners[id] = nil
                shown[id] = nil
                note("failed", id)
            case .queueChanged(.added(let batch)):
                queued.append((batch.id, machine.owner.userID))
                if let path = batch.addition {
                    added.append(Addition(path: path, id: batch.id, user: machine.owner.userID))
                }
            case .waitFinished(let token, _): waits.remove(token)
            case .writeQueued(let token, let id): batchIDs[token] = id
            case .writeSuperseded(let token, let id): if let earlier = batchIDs[token] { superseded[earlier] = id }
            case .inSync, .writeFinished, .queueChanged, .refusedChanged: break
            case .openWatch: isWatchOpening = true
            case .sendWatch(let request):
                requests.append(request)
                switch request {
                case .add(let target): note("add", target.id, target.resumeToken.reduce(0) { $0 &* 31 &+ Int($1) })
                case .remove(let id): note("remove", id)
                }
            case .closeWatch:
                stream = nil
                isWatchOpening = false
                requests = []
            case .openWriter: isWriterOpening = true
            case .sendWrite(let batch):
                outbox.append(batch)
                check(batch)
                note("send", batch.mayHaveBeenSent ? 1 : 0)
                note(batch.id)
            case .closeWriter:
                isWriterOpening = false
                outbox = []
                answers = []
            case .schedule(let timer, _): timers.insert(timer)
            case .cancel(let timer): timers.remove(timer)
            }
        }
    }

    private func check(_ batch: OutgoingBatch) {
        guard tables != .none else { return }
        let isSame = sent[batch.id].map { $0.bases == batch.bases && batch.mayHaveBeenSent } ?? true
        if !isSame || batch.bases.count != batch.writes.count { wrongBatch = wrongBatch ?? batch.id }
        sent[batch.id] = sent[batch.id] ?? batch
    }

    private func note(_ what: String, _ numbers: Int...) { trace.note(name, what, numbers) }

    // MARK: The user

    func readsCacheOnly(_ id: Int) -> Bool { options[id]?.readsCacheOnly ?? false }

    /// - Parameter isBrief: Whether to leave at once.
    func listen(_ query: LiveQuery, fromCache: Bool, isBrief: Bool) {
        lastToken += 1
        listeners[lastToken] = query
        options[lastToken] = ViewOptions(readsCacheOnly: fromCache)
        feed(.listen(lastToken, query, options[lastToken]!))
        if isBrief { unlisten(lastToken) }
    }

    func unlisten(_ id: Int) {
        listeners[id] = nil
        shown[id] = nil
        feed(.unlisten(id))
    }

    /// - Returns: Whether it is in the queue now, which a failing store may have kept it from.
    func write(_ writes: [DocumentWrite], merging merges: Bool) -> Bool {
        lastToken += 1
        let before = queued.count
        feed(merges ? .writeMerging(lastToken, writes, at: now) : .write(lastToken, writes, at: now))
        return queued.count > before
    }

    /// The batch that carries out what a batch was queued for: itself, or the last one that it was merged into.
    func successor(of id: String) -> String {
        var id = id
        while let later = superseded[id] { id = later }
        return id
    }

    /// Decides about a rejected batch.
    ///
    /// - Parameter change: What to queue in its place.
    func resolve(_ place: Int, requeuing change: ([DocumentWrite]) -> [DocumentWrite]?) {
        guard let refused = try? machine.refused(), !refused.isEmpty else { return }
        let batch = refused[place % refused.count]
        do throws(StorageError) {
            try machine.resolveRefused(batch.id, requeuing: change(batch.writes), at: now)
            resolved.insert(batch.id)
        } catch {}
        perform(machine.takeActions())
    }

    func wait() {
        lastToken += 1
        waits.insert(lastToken)
        feed(.waitForPendingWrites(lastToken))
    }

    func fail(_ operations: Set<StoreOperation>) { store.failing = operations }

    func setUser(_ user: String?) {
        if self.user != user { reads = [] }
        self.user = user
        feed(.setUser(QueueOwner(user)))
        checkOverlays()
    }

    func setNetwork(_ isEnabled: Bool) {
        isNetworkEnabled = isEnabled
        feed(.setNetwork(isEnabled: isEnabled))
    }

    /// The process ends without a word and begins again over what was stored.
    func restart() throws {
        (stream, outbox, answers, timers, listeners, shown, requests, waits) = (nil, [], [], [], [:], [:], [], [])
        (isWatchOpening, isWriterOpening, isNetworkEnabled) = (false, false, true)
        reads = []
        store.close()
        store = FlakyStore(try makeStore())
        machine = try SyncMachine(
            store: store, policy: policy, owner: QueueOwner(user), usesTags: tables != .none,
            isProvisional: \.isLocal, makeName: names.next)
        checkOverlays()
        perform(machine.start())
    }

    /// Compares what the user sees of documents with pending writes with those writes over the cache.
    private func checkOverlays() {
        guard store.failing.isEmpty, machine.owner == QueueOwner(user) else { return }
        do throws(StorageError) {
            let batches = try machine.queue()
            let paths = batches.reduce(into: Set<StoragePath>()) { $0.formUnion($1.paths) }
            let cached = try machine.local.perform(.readDocuments) { transaction throws(StorageError) in
                try transaction.cachedDocuments(at: paths)
            }
            var entries: [StoragePath: WrittenDocument] = [:]
            for path in paths { entries[path] = WrittenDocument(LocalDocument(path, cached[path])) }
            for batch in batches { batch.apply(to: &entries) }
            for (path, entry) in entries.sorted(by: { $0.key < $1.key }) {
                let data = try machine.document(at: path)?.data
                if data != entry.document.snapshot.data, wrongOverlay == nil { wrongOverlay = path }
            }
        } catch {
            wrongOverlay = wrongOverlay ?? "stores/failed"
        }
    }

    /// Deletes the cache and the user's queue as the engine does: streams see their results vanish and start over.
    ///
    /// - Returns: What was on its way to the server.
    func wipe(isRefused: Bool) throws -> [OutgoingBatch] {
        let lost = outbox
        feed(.setNetwork(isEnabled: false))
        store.refusesWipe = isRefused
        do throws(StorageError) { try store.wipe(of: QueueOwner(user)) } catch {
            feed(.setNetwork(isEnabled: isNetworkEnabled))
            return lost
        }
        for entry in queued where entry.user == user { wiped.insert(entry.id) }
        let old = machine
        timers = []
        var others = old.waiting
        others.writes = others.writes.filter { $0.value.owner != QueueOwner(user) }
        others.queue = []
        waits = []
        perform(old.emptySnapshots())
        machine = try SyncMachine(
            store: store, policy: policy, owner: QueueOwner(user), usesTags: tables != .none,
            isProvisional: \.isLocal, makeName: names.next)
        machine.waiting = others
        reads = []
        if !isNetworkEnabled { feed(.setNetwork(isEnabled: false)) }
        perform(machine.start())
        for (id, query) in listeners.sorted(by: { $0.key < $1.key }) { feed(.listen(id, query, options[id]!)) }
        return lost
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
        feed(.writerClosed(error, at: now))
        return lost
    }

    func passRequests(to server: SimServer) {
        let waiting = requests
        requests = []
        for request in waiting { stream?.take(request, server) }
    }

    /// - Parameter isLost: Whether a removal goes missing, which the server's next count of documents brings to light.
    func deliverEvent(isDoubled: Bool, isLost: Bool = false) {
        guard let event = stream?.inbox.first else { return }
        stream!.inbox.removeFirst()
        if isLost {
            switch event {
            case .deleted, .left: return stream!.owesCounts = true
            default: break
            }
        }
        feed(.watched(event))
        guard isDoubled, stream != nil else { return }
        switch event {
        case .changed, .deleted, .left, .snapshot, .token: feed(.watched(event))
        default: break
        }
    }

    func deliverAnswer() {
        guard !answers.isEmpty else { return }
        let (batch, result) = answers.removeFirst()
        switch result {
        case .success(let result):
            for index in reads.indices { reads[index].open.note(batch, result) }
            feed(.committed(result))
        case .failure(let error): _ = breakWriter(error)
        }
    }

    // MARK: One-time reads

    func read(_ request: ReadRequest, from server: SimServer) {
        reads.append(SimRead(open: OpenRead(request), answer: server.answer(to: request)))
    }

    /// One answer arrives; it is asked for again if a write was acknowledged meanwhile that it may not have.
    func deliverRead(_ place: Int, from server: SimServer) throws {
        guard !reads.isEmpty else { return }
        let read = reads.remove(at: place % reads.count)
        guard read.open.isSettled(by: read.answer) else { return self.read(read.open.request, from: server) }
        let shown: [StoragePath: DocumentSnapshot]
        do throws(StorageError) { shown = try machine.take(read.answer) } catch {
            // No one knows what is pending while the store fails, or before it has gone over to the user's queue.
            let isExpected = !store.failing.isEmpty || machine.owner != QueueOwner(user)
            guard isExpected, error.code == .localStore else { throw error }
            return perform(machine.takeActions())
        }
        perform(machine.takeActions())
        guard let queue = try? machine.queue() else { return }
        for document in read.answer.documents {
            let last = queue.last { $0.paths.contains(document.path) }?.writes.last { $0.path == document.path }
            guard let last, case .set(let data) = last.operation, last.transforms.isEmpty else { continue }
            if shown[document.path]?.data != data { wrongRead = document.path }
        }
    }

    var hasReads: Bool { !reads.isEmpty }

    func fire(_ timer: SyncTimer) {
        guard timers.remove(timer) != nil else { return }
        feed(.timer(timer))
    }

    func close() { machine.close() }

    var isIdle: Bool {
        !isWatchOpening && !isWriterOpening && outbox.isEmpty && answers.isEmpty && requests.isEmpty
            && stream?.inbox.isEmpty ?? true
    }
}

extension ViewSnapshot {
    /// Whether the documents stand in the query's order, and the changes, carried out one after the other at their indexes,
    /// make this list out of the last.
    ///
    /// - Parameters:
    ///   - last: The snapshot before.
    ///   - isOrdered: Whether the order is the query's own.
    fileprivate func leads(from last: ViewSnapshot?, inOrder isOrdered: Bool) -> Bool {
        let evaluator = LiveEvaluator(query)
        guard !isOrdered || zip(documents, documents.dropFirst()).allSatisfy({ evaluator.ordering($0, $1) == .before })
        else {
            return false
        }
        var paths = (last?.documents ?? DocumentList()).map(\.path)
        for change in changes {
            if let index = change.oldIndex {
                guard paths.indices.contains(index), paths[index] == change.document.path else { return false }
                paths.remove(at: index)
            }
            if let index = change.newIndex {
                guard index <= paths.count, !paths.contains(change.document.path) else { return false }
                paths.insert(change.document.path, at: index)
            }
        }
        return paths == documents.map(\.path)
    }
}

/// What a device asked of the outside, in order: equal for equal runs.
struct Trace {
    private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    private(set) var text = ""
    private let keepsText: Bool

    init(keepsText: Bool) { self.keepsText = keepsText }

    mutating func note(_ name: String, _ what: String, _ numbers: [Int]) {
        for byte in what.utf8 { mix(UInt64(byte)) }
        for number in numbers { mix(UInt64(bitPattern: Int64(number))) }
        if keepsText { text += "\(name): \(what) \(numbers.map(String.init).joined(separator: " "))\n" }
    }

    private mutating func mix(_ value: UInt64) { digest = (digest ^ value) &* 0x100_0000_01B3 }
}

/// Names that are new and the same in every run; they outlive the machine, as chance does.
private final class BatchNames {
    private let client: String
    private var last = 0

    init(of client: String) { self.client = client }

    func next() -> String {
        last += 1
        return "\(client)-\(last)"
    }
}

/// A one-time read, and the server's answer to it.
private struct SimRead {
    var open: OpenRead
    let answer: FetchedDocuments
}

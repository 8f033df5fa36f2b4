import Switchyard
import SwitchyardBytes
import Synchronization

/// The writes of one device that wait for the server, and those that it refused. Belongs to a ``MockDevice``.
///
/// Everybody who signs in has theirs; those of the others wait until they come back.
final class MockWriteQueue {
    typealias Action = DeliveryQueue.Action
    typealias Answer = Promise<Result<WriteReceipt.Acknowledgement, StorageError>>

    struct Item {
        let id: String
        let batch: WriteBatch
        let queuedAt: Timestamp
        var attempts = 0
        var isUnderWay = false
        /// Took effect, but its answer was lost: what the server shows has it already.
        var hasTakenEffect = false
        let answer: Answer
        /// Why the last attempt failed, for whoever waits for the answer.
        let failure = Failure()

        /// - Parameter reason: Why nothing is sent at present.
        func pending(_ reason: StorageError?) -> PendingWrite {
            PendingWrite(
                id: id, batch: batch, queuedAt: queuedAt, attempts: attempts, lastError: reason ?? failure.last,
                nextAttempt: reason == nil && !isUnderWay ? failure.nextAttempt : nil)
        }
    }

    final class Failure: Sendable {
        private let state = Mutex<(error: StorageError?, nextAttempt: Timestamp?)>((nil, nil))
        var last: StorageError? { state.withLock { $0.error } }
        /// When it is tried again.
        var nextAttempt: Timestamp? { state.withLock { $0.nextAttempt } }
        func note(_ error: StorageError?, until time: Timestamp? = nil) { state.withLock { $0 = (error, time) } }
    }

    /// One person's.
    struct Share {
        var items: [Item] = []
        var refused: [RefusedWrite] = []
        var isEmpty: Bool { items.isEmpty && refused.isEmpty }
    }

    /// Whose `items` and `refused` are; the ID of a user, or nothing for nobody.
    private(set) var owner = ""
    /// Why nothing is sent: the network is switched off for this device, or is not there.
    let stop = Failure()
    /// What the last attempt failed of, until a write gets through.
    private var cause: StorageError?
    private(set) var items: [Item] = [] { didSet { isSaved = false } }
    private(set) var refused: [RefusedWrite] = [] { didSet { isSaved = false } }
    private var others: [String: Share] = [:] { didSet { isSaved = false } }
    /// Whether what is kept on disk is the present state.
    var isSaved = true
    private var writes: [StoragePath: [(write: DocumentWrite, item: Item)]] = [:]
    private let watchers = Broadcast<SnapshotStream<[PendingWrite], StorageError>.Continuation>()
    private let refusalWatchers = Broadcast<SnapshotStream<[RefusedWrite], StorageError>.Continuation>()

    var isEmpty: Bool { items.isEmpty }
    var listenerCount: Int { watchers.count + refusalWatchers.count }
    var pending: [PendingWrite] { items.map { $0.pending(stop.last) } }
    var writtenPaths: Set<StoragePath> { Set(writes.keys) }

    /// The document with the waiting writes on top; `nil` if neither tells anything about it.
    func overlay(_ base: DocumentSnapshot?, at path: StoragePath, isFromCache: Bool) -> DocumentSnapshot? {
        var data = base?.data
        var isTouched = false
        for (write, item) in writes[path] ?? [] {
            if item.hasTakenEffect {
                isTouched = true
                continue
            }
            // A write that the server would refuse for the document's presence is not shown.
            if case .exists(let wanted) = write.precondition, (data != nil) != wanted { continue }
            if case .verify = write.operation { continue }
            data = write.applied(to: data, serverTime: item.queuedAt.asEstimate).data
            isTouched = true
        }
        guard isTouched else { return base?.with(SnapshotMetadata(isFromCache: isFromCache)) }
        return DocumentSnapshot(
            path: path, data: data, createTime: base?.createTime, updateTime: base?.updateTime,
            metadata: SnapshotMetadata(isFromCache: isFromCache, hasPendingWrites: true))
    }

    // MARK: The queue

    /// - Parameters:
    ///   - isEnabled: Whether the app lets the client use the network.
    ///   - isReachable: Whether there is one.
    func setConnection(isEnabled: Bool, isReachable: Bool) -> [Action] {
        let reason: StorageError? = !isEnabled ? .networkSwitchedOff : isReachable ? nil : .mockIsOffline
        guard stop.last?.message != reason?.message else { return [] }
        stop.note(reason)
        return items.isEmpty ? [] : pendingActions()
    }

    func append(_ item: Item) -> [Action] {
        items.append(item)
        index()
        return pendingActions()
    }

    /// The write to send now, marked as under way; `nil` if there is none or one is under way already.
    func takeNext() -> (Item?, [Action]) {
        guard let first = items.first, !first.isUnderWay else { return (nil, []) }
        items[0].isUnderWay = true
        items[0].attempts += 1
        let actions = stopWaiting()
        return (items[0], actions)
    }

    /// No time for the next attempt is known any more: it is under way, or has to wait for something else.
    func stopWaiting() -> [Action] {
        let waiting = items.map(\.failure).filter { $0.nextAttempt != nil }
        for failure in waiting { failure.note(failure.last) }
        return waiting.isEmpty ? [] : pendingActions()
    }

    /// The server has taken or refused a write: what kept writes back is over, and is news when it comes again.
    func hasGotThrough() { cause = nil }

    func markTakenEffect(_ id: String, _ hasTakenEffect: Bool = true) {
        changeOthers(id) { share, index in share.items[index].hasTakenEffect = hasTakenEffect }
        guard let index = items.firstIndex(where: { $0.id == id }) else { return }
        items[index].hasTakenEffect = hasTakenEffect
        self.index()
    }

    /// The write under way stays in the queue: it has no final answer.
    ///
    /// - Parameter time: When it is sent again.
    /// - Returns: Whether the cause is another one than that of the attempt before.
    func putBack(
        _ id: String, _ error: StorageError, until time: Timestamp
    ) -> (isNews: Bool, actions: [Action]) {
        changeOthers(id) { share, index in
            share.items[index].isUnderWay = false
            share.items[index].failure.note(error)
        }
        guard let index = items.firstIndex(where: { $0.id == id }) else { return (false, []) }
        items[index].isUnderWay = false
        items[index].failure.note(error, until: time)
        return (isNews(error), pendingActions())
    }

    /// The first write cannot even be sent. That is one attempt, until another cause or somebody's wish makes it another one.
    ///
    /// - Returns: Whether the cause is another one than that of the attempt before.
    func failToSend(_ error: StorageError, isAsked: Bool) -> (isNews: Bool, actions: [Action]) {
        guard let first = items.first, !first.isUnderWay else { return (false, []) }
        guard isAsked || first.attempts == 0 || first.failure.last?.message != error.message else { return (false, []) }
        items[0].attempts += 1
        first.failure.note(error)
        return (isNews(error), pendingActions())
    }

    private func isNews(_ error: StorageError) -> Bool {
        defer { cause = error }
        return cause?.code != error.code || cause?.message != error.message
    }

    /// - Returns: The paths that look different now.
    func remove(_ id: String) -> (item: Item, paths: [StoragePath], actions: [Action])? {
        if let item = changeOthers(id, { share, index in share.items.remove(at: index) }) { return (item, [], []) }
        guard let place = items.firstIndex(where: { $0.id == id }) else { return nil }
        let item = items.remove(at: place)
        index()
        return (item, Array(Set(item.batch.writes.map(\.path))), pendingActions())
    }

    func cancellable(_ id: String) -> Bool { items.contains { $0.id == id && !$0.isUnderWay } }

    // MARK: Whose it is

    /// Everybody's, by name.
    var shares: [String: Share] {
        get {
            var all = others
            let own = Share(items: items, refused: refused)
            if !own.isEmpty { all[owner] = own }
            return all
        }
        set {
            others = newValue
            let own = others.removeValue(forKey: owner) ?? Share()
            (items, refused) = (own.items, own.refused)
            index()
        }
    }

    var countOfAll: Int { shares.values.reduce(0) { $0 + $1.items.count } }

    /// - Returns: The paths that look different now.
    func use(_ owner: String) -> (paths: Set<StoragePath>, actions: [Action]) {
        guard owner != self.owner else { return ([], []) }
        cause = nil
        _ = stopWaiting()
        let (all, before) = (shares, writtenPaths)
        self.owner = owner
        shares = all
        return (before.union(writtenPaths), pendingActions() + refusedActions())
    }

    /// Throws away what is there of `owner`: of the present one if `nil`.
    func removeAll(of owner: String? = nil) -> [Action] {
        let share = shares.removeValue(forKey: owner ?? self.owner) ?? Share()
        for item in share.items {
            item.answer.resolve(.failure(StorageError(.cancelled, "The write was discarded.")))
        }
        return pendingActions() + refusedActions()
    }

    /// Changes a write that was under way when another user came.
    @discardableResult
    private func changeOthers<Result>(_ id: String, _ body: (inout Share, Int) -> Result) -> Result? {
        for owner in others.keys {
            guard let index = others[owner]?.items.firstIndex(where: { $0.id == id }) else { continue }
            return others[owner].map { share in
                var share = share
                defer { others[owner] = share.isEmpty ? nil : share }
                return body(&share, index)
            }
        }
        return nil
    }

    private func index() {
        writes = [:]
        for item in items {
            for write in item.batch.writes { writes[write.path, default: []].append((write, item)) }
        }
    }

    // MARK: Refusals

    func refuse(_ write: RefusedWrite) -> [Action] {
        refused.append(write)
        return refusedActions()
    }

    func takeRefused(_ id: String) -> (write: RefusedWrite, actions: [Action])? {
        guard let index = refused.firstIndex(where: { $0.id == id }) else { return nil }
        let write = refused.remove(at: index)
        return (write, refusedActions())
    }

    // MARK: Streams

    func add(_ continuation: SnapshotStream<[PendingWrite], StorageError>.Continuation) -> MockDevice.Opened {
        let stop = watchers.add(continuation) { [pending] in $0.yield(pending) }
        return ({ _, _ in stop() }, [watchers.deliver])
    }

    func add(_ continuation: SnapshotStream<[RefusedWrite], StorageError>.Continuation) -> MockDevice.Opened {
        let stop = refusalWatchers.add(continuation) { [refused] in $0.yield(refused) }
        return ({ _, _ in stop() }, [refusalWatchers.deliver])
    }

    func end(throwing error: StorageError) -> [Action] {
        watchers.close { $0.finish(throwing: error) }
        refusalWatchers.close { $0.finish(throwing: error) }
        let answers = shares.values.flatMap(\.items).map(\.answer)
        return [
            watchers.deliver, refusalWatchers.deliver, { for answer in answers { answer.resolve(.failure(error)) } },
        ]
    }

    private func pendingActions() -> [Action] {
        watchers.queue { [pending] in $0.yield(pending) }
        return [watchers.deliver]
    }

    private func refusedActions() -> [Action] {
        refusalWatchers.queue { [refused] in $0.yield(refused) }
        return [refusalWatchers.deliver]
    }
}

import Switchyard
import SwitchyardBytes
import Synchronization

/// The writes of one device that wait for the server, and those that it has refused. Belongs to a ``MockDevice``.
///
/// Each user has a separate queue, which waits while another user is signed in.
final class MockWriteQueue {
    typealias Action = DeliveryQueue.Action
    typealias Answer = Promise<Result<WriteReceipt.Acknowledgement, StorageError>>

    struct Item {
        let id: String
        let batch: WriteBatch
        let queuedAt: Timestamp
        var attempts = 0
        var isUnderWay = false
        /// Whether an attempt to send it has begun.
        var wasSent = false
        /// Earlier writes that were merged into it.
        var earlier: [Item] = []
        /// Whether it took effect but its answer was lost, so that the server's documents include it.
        var hasTakenEffect = false
        let answer: Answer
        /// What the receipt's states follow.
        let progress = WriteProgress()
        /// Why the last attempt failed, for callers that wait for the answer.
        let failure = Failure()

        /// The final answer, for the receipt and for those who wait.
        func resolve(_ result: Result<WriteReceipt.Acknowledgement, StorageError>) {
            if let state = WriteReceipt.State(answer: result) { progress.note(state) } else { progress.end() }
            answer.resolve(result)
            for item in earlier { item.answer.resolve(result) }
        }

        /// - Parameter reason: Why nothing can be sent at the moment.
        func pending(_ reason: StorageError?) -> PendingWrite {
            PendingWrite(
                id: id, batch: batch, queuedAt: queuedAt, attempts: attempts, lastError: reason ?? failure.last,
                nextAttempt: reason == nil && !isUnderWay ? failure.nextAttempt : nil)
        }
    }

    final class Failure: Sendable {
        private let state = Mutex<(error: StorageError?, nextAttempt: Timestamp?)>((nil, nil))
        var last: StorageError? { state.withLock { $0.error } }
        /// The time of the next attempt.
        var nextAttempt: Timestamp? { state.withLock { $0.nextAttempt } }
        func note(_ error: StorageError?, until time: Timestamp? = nil) { state.withLock { $0 = (error, time) } }
    }

    /// The queue of one user.
    struct Share {
        var items: [Item] = []
        var refused: [RefusedWrite] = []
        var isEmpty: Bool { items.isEmpty && refused.isEmpty }
    }

    /// The user that `items` and `refused` belong to; empty if no user is signed in.
    private(set) var owner = ""
    /// Why nothing can be sent: the network is disabled for this device, or unreachable.
    let stop = Failure()
    /// Why the last attempt failed, until a write succeeds.
    private var cause: StorageError?
    private(set) var items: [Item] = [] { didSet { isSaved = false } }
    private(set) var refused: [RefusedWrite] = [] { didSet { isSaved = false } }
    private var others: [String: Share] = [:] { didSet { isSaved = false } }
    /// Whether the state on disk is current.
    var isSaved = true
    private var writes: [StoragePath: [(write: DocumentWrite, item: Item)]] = [:]
    private let watchers = Broadcast<SnapshotStream<[PendingWrite], StorageError>.Continuation>()
    private let statusWatchers = Broadcast<SnapshotStream<SyncStatus, Never>.Continuation>()
    private var shownStatus: SyncStatus?
    /// The time of day.
    var clock: (@Sendable () -> Timestamp)?
    /// When the connection was lost.
    private var lastConnected: Timestamp?
    private let refusalWatchers = Broadcast<SnapshotStream<[RefusedWrite], StorageError>.Continuation>()

    var isEmpty: Bool { items.isEmpty }
    var listenerCount: Int { watchers.count + refusalWatchers.count + statusWatchers.count }
    var pending: [PendingWrite] { items.map { $0.pending(stop.last) } }
    var writtenPaths: Set<StoragePath> { Set(writes.keys) }

    /// The document with the queued writes applied; `nil` if it is unknown and unwritten.
    func overlay(_ base: DocumentSnapshot?, at path: StoragePath, isFromCache: Bool) -> DocumentSnapshot? {
        var data = base?.data
        var isTouched = false
        for (write, item) in writes[path] ?? [] {
            if item.hasTakenEffect {
                isTouched = true
                continue
            }
            // Do not show a write that the server would refuse because the document exists or is missing.
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
    ///   - isReachable: Whether the network is available.
    func setConnection(isEnabled: Bool, isReachable: Bool) -> [Action] {
        let reason: StorageError? = !isEnabled ? .networkSwitchedOff : isReachable ? nil : .mockIsOffline
        guard stop.last?.message != reason?.message else { return [] }
        if stop.last == nil { lastConnected = clock?() }
        stop.note(reason)
        return items.isEmpty ? statusActions() : pendingActions()
    }

    /// - Returns: The last item if `batch` may be merged with it, and what stands for both.
    func merging(_ batch: WriteBatch) -> (last: Item, batch: WriteBatch)? {
        guard let last = items.last, !last.wasSent, !last.hasTakenEffect else { return nil }
        return batch.merged(over: last.batch).map { (last, $0) }
    }

    /// - Parameter last: The last item, if it was merged into `item`.
    func append(_ item: Item, inPlaceOf last: Item? = nil) -> [Action] {
        if let last {
            items.removeLast()
            last.progress.note(.superseded(by: item.id))
        }
        items.append(item)
        index()
        return pendingActions()
    }

    /// The write to send now, marked as in progress; `nil` if there is none or one is in progress already.
    func takeNext() -> (Item?, [Action]) {
        guard let first = items.first, !first.isUnderWay else { return (nil, []) }
        items[0].isUnderWay = true
        items[0].wasSent = true
        items[0].attempts += 1
        first.progress.note(.sent)
        let actions = stopWaiting() + statusActions()
        return (items[0], actions)
    }

    /// Clears the time of the next attempt, which is in progress or waits for something else.
    func stopWaiting() -> [Action] {
        let waiting = items.map(\.failure).filter { $0.nextAttempt != nil }
        for failure in waiting { failure.note(failure.last) }
        return waiting.isEmpty ? [] : pendingActions()
    }

    /// The server has answered a write, so the previous problem is over, and is reported again if it recurs.
    func hasGotThrough() { cause = nil }

    func markTakenEffect(_ id: String, _ hasTakenEffect: Bool = true) {
        guard let index = items.firstIndex(where: { $0.id == id }) else { return }
        items[index].hasTakenEffect = hasTakenEffect
        self.index()
    }

    /// Returns the write in progress to the queue, since it has no final answer.
    ///
    /// - Parameter time: The time of the next attempt.
    /// - Returns: Whether the cause differs from the previous attempt's.
    func putBack(
        _ id: String, _ error: StorageError, until time: Timestamp
    ) -> (isNewFailure: Bool, actions: [Action]) {
        changeOthers(id) { share, index in
            share.items[index].isUnderWay = false
            share.items[index].progress.note(.local)
            share.items[index].failure.note(error)
        }
        guard let index = items.firstIndex(where: { $0.id == id }) else { return (false, []) }
        items[index].isUnderWay = false
        items[index].progress.note(.local)
        items[index].failure.note(error, until: time)
        return (isNewFailure(error), pendingActions())
    }

    /// Records that the first write cannot even be sent. This counts as one attempt, until the cause changes or another attempt
    /// is requested.
    ///
    /// - Returns: Whether the cause differs from the previous attempt's.
    func failToSend(_ error: StorageError, isAsked: Bool) -> (isNewFailure: Bool, actions: [Action]) {
        guard let first = items.first, !first.isUnderWay else { return (false, []) }
        guard isAsked || first.attempts == 0 || first.failure.last?.message != error.message else { return (false, []) }
        items[0].attempts += 1
        first.failure.note(error)
        return (isNewFailure(error), pendingActions())
    }

    private func isNewFailure(_ error: StorageError) -> Bool {
        defer { cause = error }
        return cause?.code != error.code || cause?.message != error.message
    }

    /// Returns a write to the queue of its user, who left before it was sent; does nothing if it was discarded.
    func setAside(_ id: String) {
        changeOthers(id) { share, index in
            share.items[index].isUnderWay = false
            share.items[index].progress.note(.local)
        }
    }

    /// Removes a write that the server has refused for good, and notes that for its user.
    ///
    /// - Returns: The paths whose documents have changed.
    func refuse(
        _ id: String, _ error: StorageError, _ now: Timestamp
    ) -> (item: Item, paths: [StoragePath], actions: [Action])? {
        let item = changeOthers(id) { share, index in
            let item = share.items.remove(at: index)
            share.refused.append(RefusedWrite(id: id, batch: item.batch, refusedAt: now, error: error))
            return item
        }
        if let item { return (item, [], []) }
        guard let (item, paths, actions) = remove(id) else { return nil }
        return (item, paths, actions + refuse(RefusedWrite(id: id, batch: item.batch, refusedAt: now, error: error)))
    }

    /// - Returns: The paths whose documents have changed.
    func remove(_ id: String) -> (item: Item, paths: [StoragePath], actions: [Action])? {
        guard let place = items.firstIndex(where: { $0.id == id }) else { return nil }
        let item = items.remove(at: place)
        index()
        return (item, Array(Set(item.batch.writes.map(\.path))), pendingActions())
    }

    /// Whether the write is in the queue of the current user.
    func holds(_ id: String) -> Bool { items.contains { $0.id == id } }

    func cancellable(_ id: String) -> Bool { items.contains { $0.id == id && !$0.isUnderWay } }

    // MARK: Users

    /// The queues of all users, by ID.
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

    /// - Returns: The paths whose documents have changed.
    func use(_ owner: String) -> (paths: Set<StoragePath>, actions: [Action]) {
        guard owner != self.owner else { return ([], []) }
        cause = nil
        _ = stopWaiting()
        let (all, before) = (shares, writtenPaths)
        self.owner = owner
        shares = all
        return (before.union(writtenPaths), pendingActions() + refusedActions())
    }

    /// Deletes the queue of `owner`, by default the current user.
    func removeAll(of owner: String? = nil) -> [Action] {
        let share = shares.removeValue(forKey: owner ?? self.owner) ?? Share()
        for item in share.items {
            item.resolve(.failure(StorageError(.cancelled, "The write was discarded.")))
        }
        return pendingActions() + refusedActions()
    }

    /// Changes a write that was in progress when another user signed in.
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
        statusWatchers.close { $0.finish() }
        let items = shares.values.flatMap(\.items)
        return [
            watchers.deliver, refusalWatchers.deliver, statusWatchers.deliver,
            { for item in items { item.resolve(.failure(error)) } },
        ]
    }

    private func pendingActions() -> [Action] {
        watchers.queue { [pending] in $0.yield(pending) }
        return [watchers.deliver] + statusActions()
    }

    private func refusedActions() -> [Action] {
        refusalWatchers.queue { [refused] in $0.yield(refused) }
        return [refusalWatchers.deliver] + statusActions()
    }

    // MARK: Status

    func add(_ continuation: SnapshotStream<SyncStatus, Never>.Continuation) -> MockDevice.Opened {
        let stop = statusWatchers.add(continuation) { [status] in $0.yield(status) }
        return ({ _, _ in stop() }, [statusWatchers.deliver])
    }

    /// While connected, a device always has what the server has.
    private var status: SyncStatus {
        let first = items.first?.pending(stop.last)
        return SyncStatus(
            isOnline: stop.last == nil, isWorking: items.first?.isUnderWay ?? false, pendingCount: items.count,
            oldestPending: first, firstError: first?.lastError ?? stop.last ?? refused.first?.error,
            lastSynced: stop.last == nil ? clock?() : lastConnected)
    }

    private func statusActions() -> [Action] {
        guard !statusWatchers.isEmpty else { return [] }
        let new = status
        guard shownStatus.map({ !$0.isShownLike(new) }) ?? true else { return [] }
        shownStatus = new
        statusWatchers.queue { $0.yield(new) }
        return [statusWatchers.deliver]
    }
}

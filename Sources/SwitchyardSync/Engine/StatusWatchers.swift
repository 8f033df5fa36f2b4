import Switchyard

/// The streams of an engine's status, and what it is made of besides the queue.
struct StatusWatchers {
    private var continuations: [Int: SnapshotStream<SyncStatus, Never>.Continuation] = [:]
    private var last: SyncStatus?
    /// Whether the last call to the server was answered; `nil` before the first.
    private(set) var isReached: Bool?
    /// Why the last one was not.
    private(set) var failure: StorageError?
    private(set) var lastAnswer: Timestamp?
    /// The error of the first rejected write; known while there are watchers.
    var firstRejection: StorageError?

    var count: Int { continuations.count }

    mutating func add(_ id: Int, _ continuation: SnapshotStream<SyncStatus, Never>.Continuation, seeing now: SyncStatus)
    {
        continuations[id] = continuation
        last = now
        continuation.yield(now)
    }

    mutating func remove(_ id: Int) { continuations[id] = nil }

    mutating func show(_ status: SyncStatus) {
        guard last.map({ !$0.isShownLike(status) }) ?? true else { return }
        last = status
        for continuation in continuations.values { continuation.yield(status) }
    }

    mutating func finish() {
        for continuation in continuations.values { continuation.finish() }
        continuations = [:]
    }

    mutating func noteAnswer(at time: Timestamp) { (isReached, failure, lastAnswer) = (true, nil, time) }

    /// Only an error that says that the server did not answer counts.
    mutating func noteFailure(_ error: StorageError) {
        guard error.code == .unavailable || error.code == .deadlineExceeded else { return }
        (isReached, failure) = (false, error)
    }

    /// Nothing is known any more: the network was switched.
    mutating func forgetContact() { (isReached, failure) = (nil, nil) }
}

extension SyncEngine {
    func watchStatus(_ id: Int, _ continuation: SnapshotStream<SyncStatus, Never>.Continuation) {
        do throws(StorageError) {
            queueWatchers.follow(id, seeing: try pendingWrites())
            statusWatchers.firstRejection = try refusedWrites().first?.error
            statusWatchers.add(id, continuation, seeing: status)
        } catch {
            if error.code != .shutDown { continuation.yield(SyncStatus(firstError: error)) }
            continuation.finish()
        }
    }

    func leaveStatus(_ id: Int) {
        statusWatchers.remove(id)
        queueWatchers.remove(id)
    }

    /// Tells the watchers, if anything but the time has changed.
    func showStatus() {
        guard statusWatchers.count > 0, !isShutDown else { return }
        statusWatchers.show(status)
    }

    func noteAnswer() { statusWatchers.noteAnswer(at: timestamp) }

    /// The queue's list is kept while there are watchers.
    private var status: SyncStatus {
        let first = queueWatchers.list.first
        return SyncStatus(
            isOnline: isOnline, isWorking: isCommitting || !openReads.isEmpty, pendingCount: queueWatchers.list.count,
            oldestPending: first, firstError: first?.lastError ?? contactError ?? statusWatchers.firstRejection,
            lastSynced: statusWatchers.lastAnswer)
    }

    private var isOnline: Bool? {
        guard isNetworkEnabled else { return false }
        return switch openMachine?.onlineState {
        case .online: true
        case .offline: false
        case .unknown, nil: statusWatchers.isReached
        }
    }

    private var contactError: StorageError? {
        guard isNetworkEnabled else { return .networkSwitchedOff }
        return openMachine?.onlineState == .online ? nil : openMachine?.trouble ?? statusWatchers.failure
    }
}

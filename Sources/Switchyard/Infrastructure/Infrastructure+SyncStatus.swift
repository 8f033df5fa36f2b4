import Synchronization

extension Infrastructure {
    /// How far all documents of this device are in sync: those of the chosen provider, with the writes that are still being
    /// sent at providers that were chosen before. For the chosen provider alone, ask ``storage``.
    public func syncStatus() -> SnapshotStream<SyncStatus, Never> {
        SnapshotStream { [coordinator, storage] continuation in
            let whole = WholeStatus(continuation)
            let chosen = Task {
                for await status in storage.syncStatus() { whole.note(status) }
                whole.finish()
            }
            let clients = coordinator.clients.storage
            let unfollow = clients.board.follow { _, _ in whole.follow(clients.retiring().map(\.client)) }
            return {
                unfollow()
                chosen.cancel()
                whole.follow([])
            }
        }
    }
}

/// Combines the status of the chosen storage with those of replaced ones, until they are shut down.
private final class WholeStatus: Sendable {
    private struct Replaced {
        let following: Task<Void, Never>
        var status = SyncStatus()
    }

    private struct State {
        var chosen: SyncStatus?
        var replaced: [ClientIdentity: Replaced] = [:]

        var whole: SyncStatus? {
            guard var status = chosen else { return nil }
            for left in replaced.values.map(\.status) where left.pendingCount > 0 {
                status.add(left)
            }
            return status
        }
    }

    private let continuation: SnapshotStream<SyncStatus, Never>.Continuation
    private let state = Mutex(State())

    init(_ continuation: SnapshotStream<SyncStatus, Never>.Continuation) { self.continuation = continuation }

    func note(_ status: SyncStatus) { change { $0.chosen = status } }

    /// - Parameter storages: The replaced storages; others are not followed any more.
    func follow(_ storages: [any StorageClient]) {
        let wanted = Dictionary(storages.map { ($0.identity, $0) }) { first, _ in first }
        var ended: [Task<Void, Never>] = []
        change { state in
            for identity in Array(state.replaced.keys) where wanted[identity] == nil {
                if let old = state.replaced.removeValue(forKey: identity) { ended.append(old.following) }
            }
            for (identity, storage) in wanted where state.replaced[identity] == nil {
                state.replaced[identity] = Replaced(
                    following: Task { [weak self] in
                        for await status in storage.syncStatus() {
                            self?.change { $0.replaced[identity]?.status = status }
                        }
                        if !Task.isCancelled { self?.change { $0.replaced[identity] = nil } }
                    })
            }
        }
        for task in ended { task.cancel() }
    }

    func finish() { continuation.finish() }

    /// In the lock, so that no older element follows a newer one.
    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            if let whole = state.whole { continuation.yield(whole) }
        }
    }
}

extension SyncStatus {
    /// Adds what waits on a replaced storage.
    fileprivate mutating func add(_ other: SyncStatus) {
        isWorking = isWorking || other.isWorking
        pendingCount += other.pendingCount
        if let theirs = other.oldestPending, oldestPending.map({ theirs.queuedAt < $0.queuedAt }) ?? true {
            oldestPending = theirs
            firstError = theirs.lastError ?? firstError ?? other.firstError
        } else {
            firstError = firstError ?? other.firstError
        }
    }
}

import Synchronization

/// How far a transfer is and what became of it: the side that its owner sees.
final class TransferStatus: Sendable {
    typealias Outcome = Result<FileMetadata, FileStorageError>
    private typealias Listener = SnapshotStream<TransferProgress, Never>.Continuation

    private struct State {
        var progress: TransferProgress
        var outcome: Outcome?
        /// With what each was told last.
        var listeners: [Int: (listener: Listener, told: TransferProgress?)] = [:]
        var waiters: [Int: CheckedContinuation<Outcome?, Never>] = [:]
        var lastID = 0
        /// Whether there is news that the listeners have not got, and whether somebody is telling them.
        var hasNews = false
        var isTelling = false
    }

    private let state: Mutex<State>

    init(completed: Int64, total: Int64?) {
        state = Mutex(State(progress: TransferProgress(phase: .waiting, completedBytes: completed, totalBytes: total)))
    }

    var outcome: Outcome? { state.withLock { $0.outcome } }

    // MARK: The transfer's side

    /// - Parameters:
    ///   - completed: Less than was shown before shows nothing: bytes that are sent again are not new.
    ///   - total: Once it is known.
    func show(phase: TransferProgress.Phase? = nil, completed: Int64? = nil, total: Int64? = nil) {
        note(phase: phase, completed: completed, total: total)
        tell()
    }

    /// ``show(phase:completed:total:)`` in two steps, for who decides under a lock and must not call listeners in it.
    func note(phase: TransferProgress.Phase? = nil, completed: Int64? = nil, total: Int64? = nil) {
        state.withLock { state in
            guard state.outcome == nil else { return }
            let old = state.progress
            let new = TransferProgress(
                phase: phase ?? old.phase, completedBytes: max(completed ?? 0, old.completedBytes),
                totalBytes: total ?? old.totalBytes)
            guard new != old else { return }
            state.progress = new
            state.hasNews = true
        }
    }

    /// The end; only the first counts.
    func finish(_ outcome: Outcome) {
        let waiters = state.withLock { state -> [CheckedContinuation<Outcome?, Never>] in
            guard state.outcome == nil else { return [] }
            if case .success(let metadata) = outcome {
                state.progress = TransferProgress(
                    phase: .finished, completedBytes: metadata.size, totalBytes: metadata.size)
            }
            state.outcome = outcome
            state.hasNews = true
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        tell()
        for waiter in waiters { waiter.resume(returning: outcome) }
    }

    /// Tells the listeners, one thread at a time, so that nobody gets an older state after a newer one.
    func tell() {
        while true {
            let news = state.withLock { state -> (TransferProgress, isOver: Bool, [(Listener, isNew: Bool)])? in
                guard state.hasNews, !state.isTelling else { return nil }
                state.hasNews = false
                state.isTelling = true
                let progress = state.progress
                let listeners = state.listeners.values.map { ($0.listener, $0.told != progress) }
                state.listeners = state.outcome != nil ? [:] : state.listeners.mapValues { ($0.listener, progress) }
                return (progress, state.outcome != nil, listeners)
            }
            guard let news else { return }
            for (listener, isNew) in news.2 {
                if isNew { listener.yield(news.0) }
                if news.isOver { listener.finish() }
            }
            state.withLock { $0.isTelling = false }
        }
    }

    // MARK: The owner's side

    func progress() -> SnapshotStream<TransferProgress, Never> {
        SnapshotStream { [self] listener in
            let id = state.withLock { state in
                state.lastID += 1
                state.listeners[state.lastID] = (listener, nil)
                state.hasNews = true
                return state.lastID
            }
            tell()
            return { [self] in state.withLock { _ = $0.listeners.removeValue(forKey: id) } }
        }
    }

    /// Waits for the end; `nil` when the waiting task is cancelled before.
    func wait() async -> Outcome? {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: CheckedContinuation<Outcome?, Never>) in
                let outcome = state.withLock { state -> Outcome?? in
                    if let outcome = state.outcome { return .some(outcome) }
                    if Task.isCancelled { return .some(nil) }
                    state.waiters[id] = waiter
                    return .none
                }
                if let outcome { waiter.resume(returning: outcome) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: nil)
        }
    }
}

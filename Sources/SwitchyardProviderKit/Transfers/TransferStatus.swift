import Switchyard
import SwitchyardBytes
import Synchronization

/// The progress and result of a transfer, as seen by its owner.
final class TransferStatus: Sendable {
    typealias Outcome = Result<FileMetadata, FileStorageError>

    private struct State {
        var progress: TransferProgress
        var outcome: Outcome?
        /// Whether the number of bytes is not the size of the file.
        var hasOwnTotal = false
    }

    private let state: Mutex<State>
    private let end = Promise<Outcome>()
    private let listeners = Broadcast<SnapshotStream<TransferProgress, Never>.Continuation>()

    init(completed: Int64, total: Int64?) {
        state = Mutex(State(progress: TransferProgress(phase: .waiting, completedBytes: completed, totalBytes: total)))
    }

    var outcome: Outcome? { state.withLock { $0.outcome } }

    // MARK: The transfer's side

    /// - Parameters:
    ///   - completed: Ignored if less than before: resent bytes are not progress.
    ///   - total: Once it is known.
    ///   - failure: Why an attempt failed; shown until more bytes get through.
    func show(
        phase: TransferProgress.Phase? = nil, completed: Int64? = nil, total: Int64? = nil,
        failure: FileStorageError? = nil
    ) {
        note(phase: phase, completed: completed, total: total, failure: failure)
        tell()
    }

    /// ``show(phase:completed:total:failure:)`` in two steps, for callers that hold a lock and must not call listeners within
    /// it.
    func note(
        phase: TransferProgress.Phase? = nil, completed: Int64? = nil, total: Int64? = nil,
        failure: FileStorageError? = nil
    ) {
        state.withLock { state in
            guard state.outcome == nil else { return }
            let old = state.progress
            let count = max(completed ?? 0, old.completedBytes)
            set(
                &state,
                TransferProgress(
                    phase: phase ?? old.phase, completedBytes: count, totalBytes: total ?? old.totalBytes,
                    lastError: failure ?? (count > old.completedBytes ? nil : old.lastError)))
        }
    }

    /// The number of bytes is not the size of the file, and unknown until the end.
    func forgetTotal() {
        state.withLock { state in
            guard !state.hasOwnTotal, state.outcome == nil else { return }
            state.hasOwnTotal = true
            let old = state.progress
            set(
                &state,
                TransferProgress(
                    phase: old.phase, completedBytes: old.completedBytes, totalBytes: nil, lastError: old.lastError))
        }
        tell()
    }

    /// Sets the result; only the first one counts.
    func finish(_ outcome: Outcome) {
        let isFirst = state.withLock { state in
            guard state.outcome == nil else { return false }
            if case .success(let metadata) = outcome {
                let size = state.hasOwnTotal ? state.progress.completedBytes : metadata.size
                set(&state, TransferProgress(phase: .finished, completedBytes: size, totalBytes: size))
            }
            state.outcome = outcome
            return true
        }
        guard isFirst else { return }
        listeners.close { $0.finish() }
        tell()
        end.resolve(outcome)
    }

    /// Notifies the listeners, one thread at a time, so that none gets an older state after a newer one.
    func tell() { listeners.deliver() }

    private func set(_ state: inout State, _ progress: TransferProgress) {
        guard progress != state.progress else { return }
        state.progress = progress
        listeners.queue { $0.yield(progress) }
    }

    // MARK: The owner's side

    func progress() -> SnapshotStream<TransferProgress, Never> {
        SnapshotStream { [self] listener in
            let (progress, stop) = state.withLock { state in
                let progress = state.progress
                return (progress, state.outcome == nil ? listeners.add(listener) { $0.yield(progress) } : nil)
            }
            tell()
            guard let stop else {
                listener.yield(progress)
                listener.finish()
                return {}
            }
            return stop
        }
    }

    /// Waits for the end; `nil` if the waiting task is cancelled first.
    func wait() async -> Outcome? { await end.value }
}

/// A transfer waits here while its owner has paused it. Only one task can wait at a time.
final class PauseGate: Sendable {
    private struct State {
        var isClosed = false
        var openings = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// How often it was opened, to detect a pause in the meantime.
    var openings: Int { state.withLock { $0.openings } }

    /// Returns when it is open, or the task is cancelled.
    func pass() async {
        // Called for every piece.
        guard isClosed else { return }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
                let passes = state.withLock { state in
                    if !state.isClosed || Task.isCancelled { return true }
                    state.waiter = waiter
                    return false
                }
                if passes { waiter.resume() }
            }
        } onCancel: {
            letPass()
        }
    }

    /// - Parameters:
    ///   - isClosed: `nil` leaves it as it is.
    ///   - note: Called within the lock with the new state, in the order of changes.
    func set(isClosed: Bool?, note: (_ isClosed: Bool) -> Void) {
        state.withLock { state in
            if let isClosed {
                if state.isClosed, !isClosed { state.openings += 1 }
                state.isClosed = isClosed
            }
            note(state.isClosed)
        }
        if isClosed == false { letPass() }
    }

    private func letPass() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}

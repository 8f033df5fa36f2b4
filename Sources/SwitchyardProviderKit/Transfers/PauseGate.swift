import Synchronization

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

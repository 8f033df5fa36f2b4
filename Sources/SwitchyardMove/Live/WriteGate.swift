import Switchyard
import SwitchyardBytes
import Synchronization

/// Counts the calls that write, and can hold new ones while a device changes sides.
final class WriteGate: Sendable {
    private struct State {
        var isHeld = false
        var running = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var idleWaiter: CheckedContinuation<Void, Never>?
        var nextID = 0
    }

    private let state = Mutex(State())

    /// Runs a call that writes, once writes are not held.
    func pass<Result, Failure: Error>(
        _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        await enter()
        defer { leave() }
        return try await body()
    }

    private func enter() async {
        let id = state.withLock { state -> Int? in
            guard state.isHeld else {
                state.running += 1
                return nil
            }
            state.nextID += 1
            return state.nextID
        }
        guard let id else { return }
        // A cancelled call goes on at once; it fails where it would fail anyway. Whoever lets a call go on counts it, so that the
        // next hold waits for it.
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    guard state.isHeld, !Task.isCancelled else {
                        state.running += 1
                        return true
                    }
                    state.waiting[id] = continuation
                    return false
                }
                if isOpen { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                let continuation = state.waiting.removeValue(forKey: id)
                if continuation != nil { state.running += 1 }
                return continuation
            }
            continuation?.resume()
        }
    }

    private func leave() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.running -= 1
            guard state.running == 0 else { return nil }
            defer { state.idleWaiter = nil }
            return state.idleWaiter
        }
        waiter?.resume()
    }

    /// Holds new calls until ``open()``, and returns when those in progress have ended.
    ///
    /// - Returns: `false` if the task was cancelled before.
    func hold() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    state.isHeld = true
                    guard state.running > 0, !Task.isCancelled else { return true }
                    state.idleWaiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state.idleWaiter = nil }
                return state.idleWaiter
            }
            waiter?.resume()
        }
        return !Task.isCancelled
    }

    /// Lets the held calls go on.
    func open() {
        let waiting = state.withLock { state in
            state.isHeld = false
            state.running += state.waiting.count
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }
}

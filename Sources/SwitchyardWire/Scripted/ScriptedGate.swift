import Synchronization

/// Holds a scripted answer back until the test opens it: delays without clocks.
package final class ScriptedGate: Sendable {
    private struct State {
        var isOpen = false
        var nextID = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Lets everybody through, now and from now on.
    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume() }
    }

    package var isOpen: Bool { state.withLock(\.isOpen) }

    /// How many wait at this moment: a test's proof that an exchange has come this far.
    package var waitingCount: Int {
        state.withLock { $0.waiting.count }
    }

    /// Returns when the gate is open; at once, with `.cancelled`, when the task is cancelled.
    package func pass() async throws(TransportError) {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let passes = state.withLock { state in
                    // The handler may have run before there was anything to take out.
                    if state.isOpen || Task.isCancelled { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
        if Task.isCancelled { throw TransportError(.cancelled, "the exchange was cancelled", mayHaveBeenSent: true) }
    }
}

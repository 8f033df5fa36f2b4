import Synchronization

/// A value that is set once, and for which any number of tasks can wait.
package final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters: [Int: CheckedContinuation<Value?, Never>] = [:]
        var lastWaiter = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Sets the value; only the first one counts.
    package func resolve(_ value: Value) {
        let waiters = state.withLock { state -> [CheckedContinuation<Value?, Never>] in
            guard state.value == nil else { return [] }
            state.value = value
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }

    /// The value, if it is set already.
    package var present: Value? { state.withLock { $0.value } }

    /// Waits for the value; `nil` if the waiting task is cancelled before.
    package var value: Value? {
        get async {
            let id = state.withLock { state in
                state.lastWaiter += 1
                return state.lastWaiter
            }
            return await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isCancelled = Task.isCancelled
                    let value = state.withLock { state -> Value?? in
                        if let value = state.value { return .some(value) }
                        if isCancelled { return .some(nil) }
                        state.waiters[id] = continuation
                        return .none
                    }
                    if case .some(let value) = value { continuation.resume(returning: value) }
                }
            } onCancel: {
                state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: nil)
            }
        }
    }
}

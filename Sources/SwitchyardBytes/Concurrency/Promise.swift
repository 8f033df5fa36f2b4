import Synchronization

/// A value that comes once, and that any number of tasks may wait for.
package final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters: [Int: CheckedContinuation<Value?, Never>] = [:]
        var lastWaiter = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Only the first value counts.
    package func resolve(_ value: Value) {
        let waiters = state.withLock { state -> [CheckedContinuation<Value?, Never>] in
            guard state.value == nil else { return [] }
            state.value = value
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }

    /// The value if it is there already.
    package var present: Value? { state.withLock { $0.value } }

    /// The value; `nil` when the asking task is cancelled before it comes.
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

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

/// An action that runs at most once.
package final class Once: Sendable {
    private let action: Mutex<(@Sendable () -> Void)?>

    package init(_ action: @escaping @Sendable () -> Void) { self.action = Mutex(action) }

    package var hasRun: Bool { action.withLock { $0 == nil } }

    package func run() {
        let action = action.withLock { action in
            defer { action = nil }
            return action
        }
        action?()
    }
}

/// Holds at most one running task. A new task cancels the previous one, and after `cancel()` no more are accepted.
package final class TaskBox: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isClosed = false
    }
    private let state = Mutex(State())

    package init() {}

    package func replace(with task: Task<Void, Never>) {
        let unwanted = state.withLock { state -> Task<Void, Never>? in
            guard !state.isClosed else { return task }
            defer { state.task = task }
            return state.task
        }
        unwanted?.cancel()
    }

    package func cancel() {
        let task = state.withLock { state in
            state.isClosed = true
            defer { state.task = nil }
            return state.task
        }
        task?.cancel()
    }
}

/// Waits until the task is cancelled, without using time or a thread.
package func untilCancelled() async {
    let (events, continuation) = AsyncStream<Void>.makeStream()
    for await _ in events {}
    continuation.finish()
}

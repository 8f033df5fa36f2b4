import Synchronization

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

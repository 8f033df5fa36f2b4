import Synchronization

/// Blocks tasks while it is closed: a substitute for delays that needs no clock.
package final class Gate: Sendable {
    private struct State {
        var isOpen: Bool
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var last = 0
    }

    private let state: Mutex<State>

    package init(isOpen: Bool = false) { state = Mutex(State(isOpen: isOpen)) }

    package var isOpen: Bool { state.withLock(\.isOpen) }

    /// The number of tasks blocked now.
    package var waiting: Int { state.withLock { $0.waiting.count } }

    /// Lets all tasks pass, from now on.
    package func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in held { continuation.resume() }
    }

    package func close() { state.withLock { $0.isOpen = false } }

    /// Returns when the gate is open or the task is cancelled.
    package func wait() async {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state in
                    // The handler may have run before there was anything to remove.
                    if state.isOpen || Task.isCancelled { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }
}

/// Runs calls one at a time and in order, which an actor does not do while a call is suspended.
package final class AsyncSerialQueue: Sendable {
    private let last = Mutex<Task<Void, Never>?>(nil)

    package init() {}

    /// - Returns: The result of `body`, which runs when everything before it has ended. Cancelling the caller cancels `body`,
    ///   which still gets its turn.
    package func take<Answer: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () async throws(Failure) -> Answer
    ) async throws(Failure) -> Answer {
        let task = last.withLock { last in
            let before = last
            let task = Task { () async -> Result<Answer, Failure> in
                await before?.value
                do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
            }
            last = Task { _ = await task.value }
            return task
        }
        return try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }

    /// Runs `body` to its end when everything before it has ended, whatever becomes of the caller. It serves all callers, so it
    /// belongs to none of them and to no request.
    package func runDetached(_ body: @escaping @Sendable () async -> Void) async {
        let task = last.withLock { last in
            let before = last
            let task = Task.detached {
                await before?.value
                await body()
            }
            last = task
            return task
        }
        await task.value
    }
}

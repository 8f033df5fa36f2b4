import Synchronization

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
}

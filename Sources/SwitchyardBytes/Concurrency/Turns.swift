import Synchronization

/// Calls that run one after the other, in the order in which they were asked for: an actor lets others in while it waits.
package final class Turns: Sendable {
    private let last = Mutex<Task<Void, Never>?>(nil)

    package init() {}

    /// - Returns: What `body` made, once everything before it has ended. Cancelling the caller cancels `body`, which has its turn
    ///   all the same.
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

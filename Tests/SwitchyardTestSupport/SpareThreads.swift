import Foundation

/// Runs what waits for another process where that holds none of the threads that tasks share.
///
/// The testing library reads what a process has to say on the thread of the task that waits for it, and there are as many
/// threads for tasks as cores. With as many processes under way, this process's servers and clients stood still until one of
/// the others had ended, which may have waited for them.
package func onSpareThreads<Value, Failure: Error>(
    _ body: () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    try await withTaskExecutorPreference(SpareThreads.shared, operation: body)
}

/// A thread for each job: it may block for as long as it likes.
private final class SpareThreads: TaskExecutor {
    static let shared = SpareThreads()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let thread = Thread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        thread.stackSize = 8 << 20
        thread.start()
    }
}

/// Work that Ctrl-C cancels, so that it cleans up before the process ends.
enum Interruptible {
    /// - Returns: The result, and whether someone asked to end. A second Ctrl-C ends the process at once.
    static func run<Result: Sendable>(
        _ work: @escaping @Sendable () async -> Result
    ) async -> (result: Result, isInterrupted: Bool) {
        let end = EndRequest()
        let task = Task { await work() }
        let watcher = Task {
            await end.wait()
            guard !Task.isCancelled else { return false }
            task.cancel()
            return true
        }
        let result = await task.value
        watcher.cancel()
        return (result, await watcher.value)
    }
}

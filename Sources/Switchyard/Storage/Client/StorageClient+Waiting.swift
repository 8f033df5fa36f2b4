extension StorageClient {
    /// Waits like ``waitForPendingWrites()``, but with a deadline. If the queue cannot be sent, the error says why.
    ///
    /// - Throws: At the deadline, the code of the last failed attempt to send the first write, or `.deadlineExceeded` if none
    ///   has failed or the network is switched off. All writes stay queued and are sent as soon as possible.
    public func waitForPendingWrites(within deadline: Duration) async throws(StorageError) {
        let answer = await QueueDeadline.first(
            { () async -> Result<Void, StorageError> in
                do throws(StorageError) {
                    return .success(try await waitForPendingWrites())
                } catch {
                    return .failure(error)
                }
            }, within: deadline, clock)
        if let answer { return try answer.get() }
        for try await queue in pendingWrites() {
            guard let first = queue.first else { return }
            throw QueueDeadline.error(after: first.lastError, first.batch.operation.subject)
        }
    }
}

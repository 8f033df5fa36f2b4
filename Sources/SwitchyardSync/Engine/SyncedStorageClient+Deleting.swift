public import Switchyard

extension SyncedStorageClient {
    /// Deletes `document` and everything below it, in the order of the calls: earlier queued writes take effect first, and
    /// later writes stay.
    ///
    /// If the server can delete recursively, it is asked after the queue has been answered, and the cache is updated as after
    /// another device's deletion. Otherwise collections are listed and their documents deleted through the queue.
    public func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        try document.checked()
        try checkRecursiveDelete()
        try await session?.catchUpToWrite()
        try await engine.checkServer()
        try await flushQueue()
        return try await deleteRecursively(engine.named(document), by: driver, progress)
    }

    /// Waits until everything queued so far has been answered.
    ///
    /// - Throws: `.unavailable` if an attempt to send the first write fails: this does not wait for a connection.
    private func flushQueue() async throws(StorageError) {
        var last: PendingWrite?
        var attempts: [PendingWrite.ID: Int]?
        for try await queue in pendingWrites() {
            if attempts == nil {
                guard let newest = queue.last else { return }
                last = newest
                attempts = Dictionary(queue.map { ($0.id, $0.attempts) }, uniquingKeysWith: { first, _ in first })
                try await retryPendingWrites()
            }
            guard let first = queue.first, queue.contains(where: { $0.id == last?.id }) else { return }
            if first.attempts > attempts?[first.id] ?? .max {
                throw StorageError(.unavailable, "Writes that come before could not be sent.")
            }
        }
        throw StorageError(.cancelled, "The deletion was cancelled.")
    }
}

extension StorageClient {
    /// Has the server delete recursively or, if it cannot, lists collections and deletes their documents.
    func deleteRecursively(
        _ document: StoragePath, by driver: any SyncDriver, _ progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        do throws(StorageError) {
            return try await driver.deleteRecursively(document, progress: progress)
        } catch {
            guard error.code == .unsupported, capabilities.listCollections else { throw error }
        }
        var deletion = RecursiveDeletion(self, progress: progress)
        try await deletion.delete(document)
        try await deletion.flush()
        return deletion.deleted
    }
}

/// Deletes a document with everything below it, from the leaves up, in batches, so an interrupted deletion can be repeated.
package struct RecursiveDeletion {
    private static let batchSize = 200

    let storage: any StorageClient
    let progress: @Sendable (Int) -> Void
    private var batch = WriteBatch()
    package private(set) var deleted = 0

    package init(_ storage: any StorageClient, progress: @escaping @Sendable (Int) -> Void) {
        self.storage = storage
        self.progress = progress
    }

    package mutating func delete(_ document: StoragePath) async throws(StorageError) {
        try await emptyOut(document)
        try await add(document)
    }

    mutating func delete(_ collection: CollectionPath) async throws(StorageError) {
        var pages = storage.pages(of: Query(in: collection), size: batchSize, from: .server).makeAsyncIterator()
        while let page = try await pages.next() {
            for document in page.documents { try await delete(document.path) }
        }
    }

    private mutating func emptyOut(_ document: StoragePath) async throws(StorageError) {
        for collection in try await storage.collections(under: document) { try await delete(collection) }
    }

    private var batchSize: Int {
        let capabilities = storage.capabilities
        return min(
            capabilities.maximumBatchSize ?? .max, capabilities.maximumDeletions ?? .max, RecursiveDeletion.batchSize)
    }

    private mutating func add(_ document: StoragePath) async throws(StorageError) {
        batch.delete(document)
        if batch.count >= batchSize { try await flush() }
    }

    package mutating func flush() async throws(StorageError) {
        guard !batch.isEmpty else { return }
        guard !Task.isCancelled else { throw StorageError(.cancelled, "The deletion was cancelled.") }
        try await storage.commit(batch).acknowledged()
        deleted += batch.count
        batch = WriteBatch()
        progress(deleted)
    }
}

extension StorageClient {
    public func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        try await deleteInBatches(document, progress: progress)
    }

    /// What ``deleteRecursively(_:progress:)`` does by default: each batch is a commit of this client. For a wrapper whose commits
    /// differ from those of the client that it wraps.
    package func deleteInBatches(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        try document.checked()
        try checkRecursiveDelete()
        var deletion = RecursiveDeletion(self, progress: progress)
        try await deletion.delete(document)
        try await deletion.flush()
        return deletion.deleted
    }

    @discardableResult
    public func deleteRecursively(_ document: StoragePath) async throws(StorageError) -> Int {
        try await deleteRecursively(document, progress: { _ in })
    }

    /// Deletes all documents of `collection` with everything below them, as ``deleteRecursively(_:progress:)`` does.
    @discardableResult
    public func deleteRecursively(
        _ collection: CollectionPath, progress: @escaping @Sendable (_ deleted: Int) -> Void = { _ in }
    ) async throws(StorageError) -> Int {
        try collection.checked()
        try checkRecursiveDelete()
        var deletion = RecursiveDeletion(self, progress: progress)
        try await deletion.delete(collection)
        try await deletion.flush()
        return deletion.deleted
    }

    package func checkRecursiveDelete() throws(StorageError) {
        guard capabilities.recursiveDelete else {
            throw .unsupported(
                "deleting recursively", by: provider, instead: "Delete the documents of each collection by their names."
            )
        }
    }
}

/// These work the same on every provider, since they are built on the requirements.
extension StorageClient {
    // MARK: Reading

    public func document(_ path: StoragePath) async throws(StorageError) -> DocumentSnapshot {
        try await document(path, from: .standard)
    }

    public func documents(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot] {
        try await documents(paths, from: .standard)
    }

    public func documents(_ query: Query) async throws(StorageError) -> QuerySnapshot {
        try await documents(query, from: .standard)
    }

    public func snapshots(of path: StoragePath) -> SnapshotStream<DocumentSnapshot, StorageError> {
        snapshots(of: path, options: ListenOptions())
    }

    public func snapshots(of query: Query) -> SnapshotStream<QuerySnapshot, StorageError> {
        snapshots(of: query, options: ListenOptions())
    }

    /// The number of documents that `query` finds on the server. Like ``aggregate(_:_:)``, throws `.unavailable` without a
    /// connection. To count offline, count the documents of a snapshot.
    public func count(_ query: Query) async throws(StorageError) -> Int {
        try await Int(aggregate(query, [.count]).first?.integerValue ?? 0)
    }

    // MARK: Writing

    /// Replaces the document at `path`, or creates it.
    @discardableResult
    public func setDocument(_ path: StoragePath, _ fields: WriteFields) async throws(StorageError) -> WriteReceipt {
        try await commit(WriteBatch([.set(path, fields)]))
    }

    /// Replaces the document at `path`, or creates it, with plain values.
    // Disfavoured, so that a literal is never ambiguous between the two.
    @_disfavoredOverload
    @discardableResult
    public func setDocument(_ path: StoragePath, _ data: DocumentData) async throws(StorageError) -> WriteReceipt {
        try await commit(WriteBatch([.set(path, data: data)]))
    }

    /// Writes the given fields, nested maps field by field, and creates the document if it is missing.
    @discardableResult
    public func mergeDocument(_ path: StoragePath, _ fields: WriteFields) async throws(StorageError) -> WriteReceipt {
        try await commit(WriteBatch([.merge(path, fields)]))
    }

    /// Writes the given fields; `.notFound` if the document is missing (with a queue, on the receipt).
    @discardableResult
    public func updateDocument(_ path: StoragePath, _ updates: FieldUpdates) async throws(StorageError) -> WriteReceipt
    {
        try await commit(WriteBatch([.update(path, updates)]))
    }

    /// Writes only those of the given fields that `mask` names, each as a whole; all of them must be among the fields.
    @discardableResult
    public func mergeDocument(
        _ path: StoragePath, _ fields: WriteFields, mask: [FieldPath]
    ) async throws(StorageError) -> WriteReceipt {
        try await commit(WriteBatch([.merge(path, fields, mask: mask)]))
    }

    /// Creates the document; `.alreadyExists` if it exists (with a queue, on the receipt).
    @discardableResult
    public func createDocument(_ path: StoragePath, _ fields: WriteFields) async throws(StorageError) -> WriteReceipt {
        try await commit(WriteBatch([.create(path, fields)]))
    }

    /// Deletes the document; no error if it is missing. Documents below it stay.
    @discardableResult
    public func deleteDocument(_ path: StoragePath) async throws(StorageError) -> WriteReceipt {
        try await commit(WriteBatch([.delete(path)]))
    }

    /// The checks that every client makes before it accepts a batch.
    package func checkBatch(_ batch: WriteBatch) throws(StorageError) {
        try batch.checked()
        if let most = capabilities.maximumBatchSize, batch.count > most {
            throw .invalid(
                "A batch on “\(provider)” has at most \(most) writes; this one has \(batch.count). Split it.")
        }
        if !capabilities.mixedBatches, batch.isMixed {
            throw .unsupported(
                "batches of writes of different kinds or collections", by: provider,
                instead:
                    "Commit the writes one by one, or only sets, creations or deletions of one collection together.")
        }
        try DocumentLimits.checkTransforms(batch.writes)
    }
}

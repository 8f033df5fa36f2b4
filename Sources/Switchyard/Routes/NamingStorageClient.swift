/// A storage whose error messages all begin with the operation: its route handles thrown errors, and this protocol those in
/// receipts, snapshot metadata and the list of refused writes.
protocol NamingStorageClient: RoutedStorageClient {}

extension NamingStorageClient {
    func document(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        try await Routed(route).document(path, from: source).naming(.reading(path))
    }
    func documents(
        _ paths: [StoragePath], from source: ReadSource
    ) async throws(StorageError) -> [DocumentSnapshot] {
        let documents = try await Routed(route).documents(paths, from: source)
        return documents.map { $0.naming(paths.reading) }
    }
    func documents(_ query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        let results = try await Routed(route).documents(query, from: source)
        guard results.metadata.serverError != nil else { return results }
        return QuerySnapshot(
            query: query, documents: results.documents.map { $0.naming(.querying(query)) },
            metadata: results.metadata.naming(.querying(query)))
    }
    func snapshots(
        of path: StoragePath, options: ListenOptions
    ) -> SnapshotStream<DocumentSnapshot, StorageError> {
        Routed(route).snapshots(of: path, options: options).mapElements { $0.naming(.following(path)) }
    }
    func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError> {
        Routed(route).snapshots(of: query, options: options).mapElements { snapshot in
            guard snapshot.metadata.serverError != nil else { return snapshot }
            return snapshot.with(snapshot.metadata.naming(.following(query)))
        }
    }
    func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        try await Routed(route).commit(batch).naming(batch.operation)
    }
    func refusedWrites() -> SnapshotStream<[RefusedWrite], StorageError> {
        Routed(route).refusedWrites().mapElements { writes in writes.map { $0.naming() } }
    }
}

/// The storage of a caller, which is never switched.
struct NamedStorageClient: NamingStorageClient {
    let route: any Route<any StorageClient>

    init(_ storage: any StorageClient) { route = NamingRoute<any StorageClient>(DirectRoute(storage)) }
}

extension SnapshotMetadata {
    fileprivate func naming(_ subject: ClientOperation.Subject?) -> SnapshotMetadata {
        guard let error = serverError else { return self }
        return SnapshotMetadata(
            isFromCache: isFromCache, localState: localState, serverError: error.naming(subject))
    }
}

extension DocumentSnapshot {
    fileprivate func naming(_ subject: ClientOperation.Subject?) -> DocumentSnapshot {
        metadata.serverError == nil ? self : with(metadata.naming(subject))
    }
}

extension RefusedWrite {
    fileprivate func naming() -> RefusedWrite {
        RefusedWrite(id: id, batch: batch, refusedAt: refusedAt, error: error.naming(batch.operation))
    }
}

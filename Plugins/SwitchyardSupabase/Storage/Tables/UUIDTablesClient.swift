import Switchyard

/// Passes names and values to its base in the database's spelling, so that the cache, the queue and the database agree on them.
struct UUIDTablesClient: StorageClientWrapper {
    let base: any StorageClient
    private let tables: TableMappings

    /// - Returns: `base` itself if no mapped table has UUIDs, or keys that the database makes.
    static func around(_ base: any StorageClient, _ tables: TableMappings) -> any StorageClient {
        tables.hasUUIDs || tables.generatesIDs ? UUIDTablesClient(base: base, tables: tables) : base
    }

    func newDocument(in collection: CollectionPath) -> StoragePath {
        tables.newDocument(in: collection) ?? base.newDocument(in: collection)
    }

    func document(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        try await base.document(tables.canonical(path), from: source)
    }

    func documents(
        _ paths: [StoragePath], from source: ReadSource
    ) async throws(StorageError) -> [DocumentSnapshot] {
        try await base.documents(paths.map { tables.canonical($0) }, from: source)
    }

    func documents(_ query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        try await base.documents(tables.canonical(query), from: source)
    }

    func snapshots(of path: StoragePath, options: ListenOptions) -> SnapshotStream<DocumentSnapshot, StorageError> {
        base.snapshots(of: tables.canonical(path), options: options)
    }

    func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError> {
        base.snapshots(of: tables.canonical(query), options: options)
    }

    func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        try await base.commit(canonical(batch))
    }

    func aggregate(_ query: Query, _ aggregations: [Aggregation]) async throws(StorageError) -> [DocumentValue] {
        try await base.aggregate(tables.canonical(query), aggregations)
    }

    func resolveRefusedWrite(_ id: RefusedWrite.ID, requeuing batch: WriteBatch?) async throws(StorageError) {
        try await base.resolveRefusedWrite(id, requeuing: batch.map { canonical($0) })
    }

    private func canonical(_ batch: WriteBatch) -> WriteBatch {
        var canonical = WriteBatch(batch.writes.map { tables.canonical($0) })
        canonical.mergesWaiting = batch.mergesWaiting
        return canonical
    }
}

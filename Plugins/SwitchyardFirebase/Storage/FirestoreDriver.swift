import FirestoreFormat
import Switchyard
import SwitchyardBytes
import SwitchyardSync
import SwitchyardWire

/// Firestore for the offline engine: reads and commits by single calls, changes over one channel.
struct FirestoreDriver: SyncDriver {
    let service: FirestoreService
    /// The collection in which batches leave their names.
    let ledger: CollectionPath?
    let clock: any Clock<Duration>

    var provider: InfrastructureProvider { .firebase }

    var capabilities: StorageCapabilities {
        var capabilities = StorageCapabilities.all
        // The server lists collections for its owner only, and deletes below a document for nobody.
        capabilities.listCollections = false
        capabilities.recursiveDelete = false
        return capabilities
    }

    var traits: SyncDriverTraits { SyncDriverTraits(hasLedger: ledger != nil) }

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> FetchedDocuments {
        let (documents, readTime) = try await service.documents(paths)
        return FetchedDocuments(documents: documents, readTime: readTime ?? .never)
    }

    func results(of query: Query) async throws(StorageError) -> FetchedDocuments {
        let (documents, readTime) = try await service.results(of: query)
        return FetchedDocuments(documents: documents, readTime: readTime ?? .never)
    }

    func openWatch() async throws(StorageError) -> any WatchConnection {
        let channel = WebChannel(
            service.address + "/google.firestore.v1.Firestore/Listen/channel", database: service.database.name,
            credentials: try await service.credentials(), transport: service.transport, clock: clock)
        return FirestoreWatch(service.database, channel)
    }

    func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
        var writes = batch.writes
        if let ledger, !WriteBatch(writes).isIdempotent {
            // Created, never replaced: a second attempt fails here, before it could do harm.
            writes.append(try DocumentWrite.create(ledger.document(batch.id), ["at": .serverTime]))
        }
        let answer = try await service.commit(writes)
        guard let commitTime = answer.commitTime else {
            throw StorageError(.internal, "The server took the batch without saying when.")
        }
        let results = answer.results.prefix(batch.writes.count)
        return CommitResult(
            commitTime: commitTime, updateTimes: results.map(\.updateTime),
            transformResults: zip(batch.writes, results).map { write, result in
                // Transforms of arrays are answered with null; the engine works them out.
                zip(write.transforms, result.transformResults).allSatisfy { transform, _ in
                    !transform.operation.isOfArray
                }
                    ? result.transformResults : nil
            })
    }

    func result(ofBatch id: String) async throws(StorageError) -> CommitResult? {
        guard let ledger else { return nil }
        let entry = try await service.documents([ledger.document(id)]).found[0]
        return entry.createTime.map { CommitResult(commitTime: $0) }
    }

    func aggregate(_ query: Query, _ aggregations: [Aggregation]) async throws(StorageError) -> [DocumentValue] {
        try await service.aggregate(query, aggregations)
    }

    func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        FirestoreTransaction(service: service)
    }

    func shutDown() async { await service.transport.shutDown() }
}

/// Optimistic: nothing is locked, and the commit checks that what was read is still so.
private struct FirestoreTransaction: StorageTransactionBackend {
    let service: FirestoreService

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot] {
        try await service.documents(paths).found
    }

    func commit(_ writes: [DocumentWrite]) async throws(StorageError) -> WriteReceipt.Acknowledgement {
        let answer = try await service.commit(writes)
        guard let commitTime = answer.commitTime else {
            throw StorageError(.internal, "The server took the batch without saying when.")
        }
        return WriteReceipt.Acknowledgement(commitTime: commitTime, updateTimes: answer.results.map(\.updateTime))
    }
}

extension FieldTransform.Operation {
    fileprivate var isOfArray: Bool {
        switch self {
        case .arrayUnion, .arrayRemove: true
        case .serverTime, .increment, .maximum, .minimum: false
        }
    }
}

import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
import SwitchyardSync
import SwitchyardWire
import Synchronization

/// Firestore for the offline engine: one-shot calls for reads and commits, one channel for changes.
struct FirestoreDriver: SyncDriver {
    let service: FirestoreService
    /// The collection that records the IDs of batches.
    let ledger: CollectionPath?
    /// Whether transactions lock documents on the server when reading, instead of checking at the end.
    let locksInTransactions: Bool
    /// Whether it acts for the project itself, which may do more than users.
    let isProject: Bool
    let clock: any Clock<Duration>
    private let refusal = StreamRefusal()

    init(
        service: FirestoreService, ledger: CollectionPath?, locksInTransactions: Bool = false,
        isProject: Bool = false, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.isProject = isProject
        self.service = service
        self.ledger = ledger
        self.locksInTransactions = locksInTransactions
        self.clock = clock
    }

    var provider: InfrastructureProvider { .firebase }

    /// Listing collections and deleting recursively are for the project itself only.
    var capabilities: StorageCapabilities {
        var capabilities = StorageCapabilities()
        capabilities.transactions = true
        capabilities.listCollections = isProject
        capabilities.recursiveDelete = isProject
        capabilities.collectionGroups = true
        capabilities.aggregates = true
        capabilities.alternatives = true
        capabilities.negations = true
        capabilities.versionPreconditions = true
        capabilities.openSchema = true
        capabilities.openTypes = true
        capabilities.mixedBatches = true
        capabilities.transforms = true
        return capabilities
    }

    var traits: SyncDriverTraits {
        var traits = SyncDriverTraits(hasLedger: ledger != nil, mergesBatches: true)
        if let ledger { traits.ownCollections = [ledger.id] }
        return traits
    }

    var executor: (any TaskExecutor)? { service.transport.executor }

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> FetchedDocuments {
        let (documents, readTime) = try await service.documents(paths)
        return FetchedDocuments(documents: documents, readTime: readTime ?? .never)
    }

    func results(of query: Query) async throws(StorageError) -> FetchedDocuments {
        let (documents, readTime) = try await service.results(of: query)
        return FetchedDocuments(documents: documents, readTime: readTime ?? .never)
    }

    func openWatch() async throws(StorageError) -> any WatchConnection {
        let credentials = try await service.credentials(isRefused: refusal.take()).headers
        let channel = WebChannel(
            service.endpoint.address + "/google.firestore.v1.Firestore/Listen/channel",
            database: service.database.name, credentials: credentials, transport: service.transport,
            clock: clock)
        return FirestoreWatch(service.database, channel, refusal)
    }

    func aggregate(_ query: Query, _ aggregations: [Aggregation]) async throws(StorageError) -> [DocumentValue] {
        try await service.aggregate(query, aggregations)
    }

    func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        let service = try await service.bound()
        return if locksInTransactions {
            FirestoreLockingTransaction(service, try await service.beginTransaction())
        } else {
            FirestoreTransaction(service: service, ledger: ledger)
        }
    }

    func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        guard isProject else {
            throw .unsupported(
                "listing collections", by: provider,
                instead: "Keep their names in a document, or list them on a server with the project's credential.")
        }
        return try await service.collections(under: document)
    }

    /// Only the project itself can ask for them, and no emulator supports it so far.
    func dividers(ofGroup group: String, into count: Int) async throws(StorageError) -> [StoragePath] {
        guard isProject, count > 1 else { return [] }
        do throws(StorageError) { return try await service.dividers(ofGroup: group, into: count) } catch {
            guard error.code == .unsupported else { throw error }
            return []
        }
    }

    func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        guard isProject else {
            throw .unsupported(
                "recursive deletion", by: provider,
                instead: "Delete the documents one by one, or on a server with the project's credential.")
        }
        return try await service.deleteTree(at: document, progress: progress)
    }

    func shutDown() async { await service.transport.shutDown() }

    // MARK: Batches

    func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
        let ledger = WriteBatch(batch.writes).isIdempotent ? nil : ledger
        let answer: FirestoreWriteResults
        do throws(StorageError) {
            answer = try await service.commit(batch.writes + Ledger.entries(batch.id, in: ledger), of: batch)
        } catch {
            // An earlier attempt may have arrived after the check for it.
            guard ledger != nil, error.code == .alreadyExists else {
                throw await Ledger.blamed(error, on: batch.id, in: ledger, service)
            }
            let known: CommitResult?
            do throws(StorageError) { known = try await result(of: batch) } catch {
                // It is still unknown whether it arrived.
                throw error.asRefusal(false)
            }
            guard let known else { throw error }
            return known
        }
        return try answer.result(of: batch, from: 0)
    }

    func commit(_ batches: [OutgoingBatch]) async throws(StorageError) -> [CommitResult] {
        var writes: [DocumentWrite] = []
        var starts: [Int] = []
        for batch in batches {
            starts.append(writes.count)
            writes += batch.writes
            writes += try Ledger.entries(batch.id, in: WriteBatch(batch.writes).isIdempotent ? nil : ledger)
        }
        let answer = try await service.commit(writes, of: batches[0])
        var results: [CommitResult] = []
        for (batch, start) in zip(batches, starts) { results.append(try answer.result(of: batch, from: start)) }
        return results
    }

    func result(of batch: OutgoingBatch) async throws(StorageError) -> CommitResult? {
        guard let ledger else { return nil }
        do throws(StorageError) {
            let entry = try await service.documents([ledger.document(batch.id)]).found[0]
            return entry.createTime.map { CommitResult(commitTime: $0) }
        } catch {
            throw Ledger.unreadable(error, ledger)
        }
    }
}

/// Whether the last stream ended because its tokens were refused, so that the next one needs new ones.
final class StreamRefusal: Sendable {
    private let isSet = Mutex(false)

    func note() { isSet.withLock { $0 = true } }

    func take() -> Bool {
        isSet.withLock { isSet in
            defer { isSet = false }
            return isSet
        }
    }
}

extension FirestoreWriteResults {
    /// - Parameter start: The index of the first write of `batch` among the committed ones.
    fileprivate func result(of batch: OutgoingBatch, from start: Int) throws(StorageError) -> CommitResult {
        guard results.count >= start + batch.writes.count else {
            throw StorageError(.internal, "The server left out the result of a write.")
        }
        let results = results[start..<start + batch.writes.count]
        return CommitResult(
            commitTime: try time(), updateTimes: results.map(\.updateTime),
            transformResults: zip(batch.writes, results).map { write, result in
                // The server returns null for array transforms; the engine computes them.
                write.transforms.contains { $0.operation.isOfArray } ? nil : result.transformResults
            })
    }

    func time() throws(StorageError) -> Timestamp {
        guard let commitTime else {
            throw StorageError(.internal, "The server accepted the writes without a commit time.")
        }
        return commitTime
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

extension FirestoreDriver {
    /// Reads a bundle in Firestore's format, made for this project and database.
    func bundle(from data: Data) async throws(StorageError) -> DocumentBundle {
        do throws(FirestoreFormatError) {
            return try FirestoreBundleReader.bundle(data, in: service.database)
        } catch {
            throw StorageError(
                .invalidArgument, "This is not a bundle of this database's documents.", underlying: error)
        }
    }
}

/// The folder for the documents of one database: writes queued for one project must never be sent to another.
enum FirestoreFolder {
    /// The folder's name, which depends on the database and on whether it is on Google's servers or an emulator.
    static func name(_ configuration: FirebaseConfiguration, _ endpoints: FirebaseEndpoints) -> String {
        let database = FirestoreDatabase(project: configuration.project, database: configuration.database)
        let name = SHA256.digest(of: Array("\(database.name) \(endpoints.firestore.address)".utf8))
        return "documents-\(Hex.encode(name.prefix(8)))"
    }

    /// The folder, created if needed. It takes over the folder of an earlier version, whose name was the same for all databases
    /// and which goes to the first database on real servers that is opened.
    static func make(_ context: FirebaseContext) throws(InfrastructureError) -> URL? {
        let name = name(context.configuration, context.endpoints)
        guard let folder = context.module.place(of: name) else { return nil }
        if !context.endpoints.firestore.isEmulator, let old = context.module.place(of: "documents"),
            !FileManager.default.fileExists(atPath: folder.path)
        {
            // If it does not exist, there is nothing to take over.
            try? FileManager.default.moveItem(at: old, to: folder)
        }
        return try context.folder(name)
    }
}

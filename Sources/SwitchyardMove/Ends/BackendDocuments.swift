import Switchyard
import SwitchyardBytes
import Synchronization

/// The documents of a backend.
struct BackendDocuments: MoveDocuments {
    let storage: any StorageClient
    let limits: ValueLimits

    init(_ storage: any StorageClient) {
        self.storage = storage
        limits = ValueLimits(of: storage.provider)
    }

    var requirements: [String] {
        let capabilities = storage.capabilities
        var texts: [String] = []
        if !capabilities.openSchema {
            texts.append("Only collections that are mapped to tables exist on \(storage.provider). Map each of them.")
        }
        if !capabilities.openTypes {
            texts.append(
                "In mapped tables of \(storage.provider), each field needs a column, and takes the type of its column.")
        }
        if !capabilities.collectionGroups {
            texts.append("\(storage.provider) finds no collections below documents; only those at the top take part.")
        }
        return texts
    }

    func collections(under document: StoragePath?) async throws -> [String]? {
        guard storage.capabilities.listCollections else { return nil }
        let own = storage.unwrapped(as: (any KeepsOwnCollections).self)?.ownCollections ?? []
        return try await storage.collections(under: document).map(\.id)
            .filter { !own.contains($0) && !MoveLayout.collections.contains($0) }
    }

    func count(of collection: String) async throws -> Int { try await storage.count(query(collection)) }

    func ranges(of collection: String, into count: Int) async throws -> [DocumentRange] {
        guard count > 1, storage.capabilities.collectionGroups else { return [DocumentRange(collection: collection)] }
        let dividers = try await storage.dividers(ofGroup: collection, into: count).map { $0.rawValue as String? }
        return zip([nil] + dividers, dividers + [nil]).map {
            DocumentRange(collection: collection, start: $0, end: $1)
        }
    }

    func page(of range: DocumentRange, after place: String?, limit: Int) async throws -> DocumentPage {
        var query = query(range.collection)
        if let text = place ?? range.start {
            query = query.withStart([try StoragePath(validating: text).documentValue], isInclusive: place == nil)
        }
        if let end = range.end {
            query = query.withEnd([try StoragePath(validating: end).documentValue], isInclusive: false)
        }
        var pages = storage.pages(of: query, size: limit, from: .server).makeAsyncIterator()
        let documents = try await pages.next().map { Array($0.documents) } ?? []
        return DocumentPage(documents, place: documents.last?.path.rawValue ?? place ?? "")
    }

    func documents(_ paths: [StoragePath]) async throws -> [DocumentSnapshot] {
        try await storage.documents(paths, from: .server)
    }

    func write(_ documents: [DocumentSnapshot], of collection: String, page: String) async throws -> [Rejection] {
        var writes: [DocumentWrite] = []
        var rejections: [Rejection] = []
        for document in documents {
            do throws(StorageError) {
                writes.append(try .set(document.path, data: document.data ?? DocumentData()))
            } catch {
                rejections.append(Rejection(document.path.description, error.message))
            }
        }
        return rejections + (try await send(writes))
    }

    private func send(_ writes: [DocumentWrite]) async throws -> [Rejection] {
        guard !writes.isEmpty else { return [] }
        let failures = Mutex<[(path: StoragePath, error: StorageError)]>([])
        var options = BulkOptions()
        // Small batches, so that a page is written by several of them at a time.
        options.batchSize = 125
        options.parallel = 4
        try await storage.writeInBulk(writes, options: options) { result in
            if case .failure(let error) = result.outcome {
                failures.withLock { $0.append((result.write.path, error)) }
            }
        }
        let failed = failures.withLock(\.self)
        // Such a document can be written later, so its page is not done.
        if let passing = failed.first(where: { !$0.error.isFinal }) { throw passing.error }
        return failed.map { Rejection($0.path.description, $0.error.message) }
    }

    private func query(_ collection: String) -> Query {
        storage.capabilities.collectionGroups
            ? Query(group: collection) : Query(in: CollectionPath(segments: [collection]))
    }
}

extension StorageError {
    /// Whether the same document would be rejected again.
    fileprivate var isFinal: Bool {
        isRefusal || [.invalidArgument, .unsupported, .failedPrecondition, .unauthorized, .notFound].contains(code)
    }
}

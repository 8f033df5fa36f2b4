import Switchyard
import SwitchyardSync
import Synchronization

/// What the offline engine needs of a server: reads, commits, and a stream of changes. Cache, queue and live queries are the
/// engine's.
struct WarehouseDriver: SyncDriver {
    let provider = InfrastructureProvider.warehouse
    let traits = SyncDriverTraits(hasLedger: false)
    let warehouse: Warehouse
    /// The source of tokens, which may be another provider's.
    let auth: (any AuthClient)?

    var capabilities: StorageCapabilities {
        var capabilities = StorageCapabilities.all
        capabilities.transactions = false
        capabilities.listCollections = false
        capabilities.recursiveDelete = false
        return capabilities
    }

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> FetchedDocuments {
        let (documents, version) = try await call { token throws(Warehouse.Problem) in try warehouse.read(as: token) }
        return FetchedDocuments(documents: paths.map { documents[$0] ?? .missing($0) }, readTime: version)
    }

    func results(of query: Query) async throws(StorageError) -> FetchedDocuments {
        let (documents, version) = try await call { token throws(Warehouse.Problem) in try warehouse.read(as: token) }
        return FetchedDocuments(documents: query.results(among: documents.values), readTime: version)
    }

    func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
        do throws(StorageError) {
            return CommitResult(
                commitTime: try await call { token throws(Warehouse.Problem) in
                    try warehouse.write(batch.writes, as: token)
                })
        } catch {
            // What a repetition may cure stays in the queue; the rest the server has refused for good.
            throw error.isRetryable || error.code == .unauthenticated ? error : error.asRefusal()
        }
    }

    func openWatch() async throws(StorageError) -> any WatchConnection {
        WarehouseWatch(warehouse, try await token())
    }

    private func call<Answer>(
        _ body: (Secret?) throws(Warehouse.Problem) -> Answer
    ) async throws(StorageError) -> Answer {
        let token = try await token()
        do throws(Warehouse.Problem) { return try body(token) } catch {
            throw StorageError(error.code, error.message)
        }
    }

    /// `nil` if no one is signed in: then the server decides.
    private func token() async throws(StorageError) -> Secret? {
        guard let auth else { return nil }
        do throws(AuthError) { return try await auth.accessToken().value } catch {
            if error.code == .notSignedIn { return nil }
            throw StorageError(error.code, error.message, isRetryable: error.isRetryable, underlying: error)
        }
    }
}

/// The warehouse says that something has changed, and not what. So each target gets its whole result again, and the engine finds
/// the differences.
final class WarehouseWatch: WatchConnection {
    private let warehouse: Warehouse
    private let token: Secret?
    private let targets = Mutex<[Int: WatchTarget]>([:])
    private let events: AsyncThrowingStream<WatchEvent, any Error>
    private let continuation: AsyncThrowingStream<WatchEvent, any Error>.Continuation

    init(_ warehouse: Warehouse, _ token: Secret?) {
        self.warehouse = warehouse
        self.token = token
        (events, continuation) = AsyncThrowingStream.makeStream()
        warehouse.watch(self) { [weak self] in self?.deliver() }
    }

    func next() async throws(StorageError) -> WatchEvent? {
        do {
            for try await event in events { return event }
            return nil
        } catch {
            throw error as? StorageError ?? StorageError(.unavailable, "The connection broke.", underlying: error)
        }
    }

    func send(_ request: WatchRequest) {
        switch request {
        case .add(let target):
            targets.withLock { $0[target.id] = target.target }
            continuation.yield(.added([target.id]))
        case .remove(let id):
            targets.withLock { $0[id] = nil }
            continuation.yield(.removed([id]))
        }
        deliver()
    }

    func close() {
        warehouse.watch(self, nil)
        continuation.finish()
    }

    private func deliver() {
        // The lock keeps the events of two changes apart.
        targets.withLock { targets in
            guard !targets.isEmpty else { return }
            do throws(Warehouse.Problem) {
                let (documents, version) = try warehouse.read(as: token)
                for (id, target) in targets {
                    continuation.yield(.reset([id]))
                    let matches: [DocumentSnapshot] =
                        switch target {
                        case .document(let path): documents[path].map { [$0] } ?? []
                        case .query(let query): query.results(among: documents.values)
                        }
                    for document in matches { continuation.yield(.changed(document, targets: [id])) }
                    continuation.yield(.current([id]))
                }
                continuation.yield(.snapshot(version: version))
            } catch {
                // The engine opens another connection after a pause.
                warehouse.watch(self, nil)
                continuation.finish(throwing: StorageError(error.code, error.message))
            }
        }
    }
}

import Switchyard
import SwitchyardBytes
import SwitchyardMock
import Synchronization

/// What a call costs between an app and a provider: through an infrastructure, with retries, and with an observer, around a
/// client that does nothing but answer.
struct BoundaryBench: BenchSection {
    let name = "boundary"

    func run(_ bench: Bench) async throws {
        let bare = FixedStorage()
        let counter = CountingObserver()
        let plain = try await infrastructure(retry: nil, SilentObserver())
        let retrying = try await infrastructure(retry: .standard, SilentObserver())
        let observed = try await infrastructure(retry: .standard, counter)
        let clients: [(String, any StorageClient)] = [
            ("bare", bare), ("through an infrastructure", plain.storage),
            ("… with retries", retrying.storage), ("… with retries and an observer", observed.storage),
        ]
        // In turns, so that what else the machine does meets all of them.
        var times: [String: [Double]] = [:]
        for _ in 0..<bench.settings.count(12, quick: 2) {
            for (name, client) in clients {
                times[name, default: []].append(
                    try await nanoseconds(client, bench.settings.count(200_000, quick: 20_000)))
            }
        }
        guard counter.count > 0 else { throw BenchFailure("the observer received nothing") }
        for (name, _) in clients {
            guard let best = times[name]?.min() else { continue }
            await bench.report(
                "a read \(name), best", best, "ns", name == "bare" ? nil : .atMost(Self.marks[name] ?? 0))
        }
        for backend in [plain, retrying, observed] { await backend.shutDown() }
    }

    /// The last is half of what the boundary of several layers took on the same machine. The others are about twice what was
    /// measured, so that slower machines pass.
    private static let marks = [
        "through an infrastructure": 1_000.0, "… with retries": 1_100, "… with retries and an observer": 1_370,
    ]

    private func infrastructure(
        retry: RetryPolicy?, _ observer: any InfrastructureObserver
    ) async throws -> Infrastructure {
        var selection = InfrastructureSelection(default: .mock)
        selection.storage = FixedModule.provider
        var configuration = InfrastructureConfiguration(selection)
        configuration.retry = retry
        return try await InfrastructureFactory(FixedModule(), MockModule()).make(
            configuration, in: InfrastructureOptions(observer: observer))
    }

    private func nanoseconds(_ client: any StorageClient, _ count: Int) async throws -> Double {
        let path: StoragePath = "items/1"
        var found = 0
        let duration = try await ContinuousClock().measure {
            for _ in 0..<count where try await client.document(path).exists { found += 1 }
        }
        guard found == count else { throw BenchFailure("a document is missing") }
        return duration.inSeconds * 1e9 / Double(count)
    }
}

private final class CountingObserver: InfrastructureObserver {
    private let events = Atomic(0)
    var count: Int { events.load(ordering: .relaxed) }
    func observe(_ event: InfrastructureEvent) { events.add(1, ordering: .relaxed) }
}

private struct FixedModule: InfrastructureModule {
    struct Settings: Codable, Sendable {}
    static let provider: InfrastructureProvider = "fixed"
    let configuration = Settings()
    init() {}
    init(_ configuration: Settings) {}
    func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        FixedStorage()
    }
}

/// Answers every read with the same document.
private struct FixedStorage: StorageClient {
    let provider = FixedModule.provider
    let capabilities = StorageCapabilities()
    private let document = DocumentSnapshot(path: "items/1", data: ["n": 1])

    func document(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        document
    }
    func documents(
        _ paths: [StoragePath], from source: ReadSource
    ) async throws(StorageError) -> [DocumentSnapshot] { paths.map { _ in document } }
    func documents(_ query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        QuerySnapshot(query: query, documents: [document])
    }
    func snapshots(
        of path: StoragePath, options: ListenOptions
    ) -> SnapshotStream<DocumentSnapshot, StorageError> { .just(document) }
    func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError> {
        .just(QuerySnapshot(query: query, documents: [document]))
    }
    func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        throw .unsupported("writes", by: provider, instead: "Read.")
    }
    func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        throw .unsupported("transactions", by: provider, instead: "Read.")
    }
}

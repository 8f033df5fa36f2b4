import Switchyard
import Synchronization

/// The context of a storage check: its own collection, a writing device, others on demand.
final class StorageContext: ConformanceContext {
    private struct State {
        var clients: [any StorageClient] = []
        var collections: [CollectionPath] = []
        var listeners: [@Sendable () -> Void] = []
    }

    let harness: any StorageHarness
    let namespace: ConformanceNamespace
    let features: StorageFeatures
    /// An empty collection.
    let items: CollectionPath
    /// The first device.
    let store: StorageDevice
    private let state = Mutex(State())

    init(_ harness: any StorageHarness) async throws {
        self.harness = harness
        features = harness.features
        namespace = ConformanceNamespace()
        items = try await harness.collection("main", in: namespace)
        store = StorageDevice(
            try await harness.makeStorageClient(), features: features, id: { harness.documentID($0) })
        state.withLock { state in
            state.collections = [items]
            state.clients = [store.client]
        }
    }

    var client: any StorageClient { store.client }

    /// A new device for each call.
    func device() async throws -> StorageDevice {
        let device = StorageDevice(
            try await harness.makeStorageClient(), features: features, id: { [harness] in harness.documentID($0) })
        state.withLock { $0.clients.append(device.client) }
        return device
    }

    /// Makes a document's name, as a value in a query, of the name by which the check calls it.
    typealias Naming = @Sendable (String) -> DocumentValue

    var name: Naming { { [harness] in .string(harness.documentID($0)) } }

    /// The document that the check calls `name`.
    ///
    /// - Parameters:
    ///   - name: The name in the check.
    ///   - collection: Its collection; by default, ``items``.
    func document(_ name: String, in collection: CollectionPath? = nil) -> StoragePath {
        (collection ?? items).document(harness.documentID(name))
    }

    /// The names of the documents that the check calls by these.
    func ids(_ names: String...) -> [String] { ids(names) }
    func ids(_ names: [String]) -> [String] { names.map { harness.documentID($0) } }

    /// Another empty collection, with its own parent.
    func collection(_ name: String) async throws -> CollectionPath {
        let path = try await harness.collection(name, in: namespace)
        state.withLock { $0.collections.append(path) }
        return path
    }

    /// A collection below a document. Needs an open schema.
    func collection(_ name: String, below document: StoragePath) throws -> CollectionPath {
        let path = document.collection(name)
        state.withLock { $0.collections.append(path) }
        return path
    }

    /// Listens until the end of the check.
    func watch<Stream: AsyncSequence & Sendable>(_ stream: Stream) -> StreamProbe<Stream.Element>
    where Stream.Element: Sendable {
        let probe = StreamProbe<Stream.Element>(stream)
        state.withLock { $0.listeners.append { probe.cancel() } }
        return probe
    }

    func watch(_ query: Query) -> StreamProbe<QuerySnapshot> { watch(client.snapshots(of: query)) }
    func watch(_ path: StoragePath) -> StreamProbe<DocumentSnapshot> { watch(client.snapshots(of: path)) }

    func tearDown() async throws {
        let (clients, collections, listeners) = state.withLock { ($0.clients, $0.collections, $0.listeners) }
        for cancel in listeners { cancel() }
        var failure: (any Error)?
        do {
            // The check may have disconnected its clients or shut them down, so this uses a new one.
            let cleaner = StorageDevice(try await harness.makeStorageClient(), features: features)
            do { for collection in collections.reversed() { try await cleaner.empty(collection) } } catch {
                failure = error
            }
            await cleaner.client.shutDown()
        } catch {
            failure = error
        }
        for client in clients { await client.shutDown() }
        try await harness.cleanUp(namespace)
        if let failure { throw failure }
    }
}

public typealias StorageCheck = ConformanceCheck<any StorageHarness, StorageFeatures>

extension ConformanceCheck where Harness == any StorageHarness, Features == StorageFeatures {
    init(
        _ name: String, needs requirements: StorageRequirement..., deadline: Duration = .seconds(40),
        _ body: @escaping @Sendable (StorageContext) async throws -> Void
    ) {
        self.init(name, needs: requirements, deadline: deadline, body)
    }

    init(
        _ name: String, needs requirements: [StorageRequirement], deadline: Duration = .seconds(40),
        _ body: @escaping @Sendable (StorageContext) async throws -> Void
    ) {
        self.init(.storage, name, requirements: requirements, deadline: deadline) { harness in
            try await ConformanceLife.run(deadline: deadline, begin: { try await StorageContext(harness) }, body: body)
        }
    }
}

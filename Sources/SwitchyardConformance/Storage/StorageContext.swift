import Foundation
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

/// A list maintained by following the changes of snapshots, as a table on a screen does.
struct ChangeLog {
    private(set) var documents: [DocumentSnapshot] = []

    /// Applies the snapshot's changes, and expects the result to equal its documents.
    mutating func follow(_ snapshot: QuerySnapshot, file: String = #fileID, line: Int = #line) throws {
        for change in snapshot.changes {
            if let index = change.oldIndex {
                try expect(
                    documents.indices.contains(index) && documents[index].path == change.document.path,
                    "a change's old index is the place of its document", found: "\(index) of \(documents.map(\.id))",
                    file: file, line: line)
                documents.remove(at: index)
            }
            if let index = change.newIndex {
                try expect(
                    index >= 0 && index <= documents.count, "a change's new index is a place in the list",
                    found: "\(index) of \(documents.count)", file: file, line: line)
                documents.insert(change.document, at: index)
            }
            try expect(
                (change.oldIndex == nil) == (change.kind == .added)
                    && (change.newIndex == nil) == (change.kind == .removed),
                "added documents have no old index, removed ones no new one, all others both",
                found: "\(change.kind) from \(Readable.text(change.oldIndex)) to \(Readable.text(change.newIndex))",
                file: file, line: line)
        }
        try expectEqual(
            documents.map { Entry($0) }, snapshot.documents.map { Entry($0) }, "the list that follows the changes",
            file: file,
            line: line)
    }

    private struct Entry: Equatable, CustomStringConvertible {
        let path: StoragePath
        let data: DocumentData?
        init(_ document: DocumentSnapshot) {
            path = document.path
            data = document.data
        }
        var description: String { "\(path.id) \(Readable.text(data))" }
    }
}

/// Shorthands for the values in checks. Their arguments are constants known to be valid.
extension Timestamp {
    static func at(_ seconds: Int64, microseconds: Int32 = 0) -> Timestamp {
        at(seconds, nanoseconds: microseconds * 1000)
    }

    static func at(_ seconds: Int64, nanoseconds: Int32) -> Timestamp {
        (try? Timestamp(validatingSeconds: seconds, nanoseconds: nanoseconds)) ?? .distantPast
    }
}

extension DocumentValue {
    static func time(_ seconds: Int64, microseconds: Int32 = 0) -> DocumentValue {
        .timestamp(.at(seconds, microseconds: microseconds))
    }

    static func place(_ latitude: Double, _ longitude: Double) -> DocumentValue {
        (try? GeoPoint(latitude: latitude, longitude: longitude)).map { .geoPoint($0) } ?? .null
    }

    static func link(_ path: StoragePath) -> DocumentValue { .reference(DocumentReference(path)) }
    static func blob(_ bytes: UInt8...) -> DocumentValue { .bytes(Data(bytes)) }
}

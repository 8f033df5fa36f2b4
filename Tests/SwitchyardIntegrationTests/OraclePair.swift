import Switchyard
import SwitchyardMock
import SwitchyardSync
import SwitchyardTestSupport
import Synchronization
import Testing

struct OracleDifference: Error, CustomStringConvertible {
    let description: String
}

/// One device, on either side.
final class OraclePair {
    let mock: MockStorageClient
    let engine: SyncedStorageClient
    private(set) var isOnline = true
    private let whole: (mock: OracleViewer, engine: OracleViewer)
    private var viewers: [(mock: OracleViewer, engine: OracleViewer)] = []
    /// The collection of which every device has everything, since it watches all of it from the beginning. What else a device
    /// without a network still knows is its own affair: the mock remembers more of what it has written than the engine does.
    static let covered: CollectionPath = "things"

    init(mock: MockStorageClient, engine: SyncedStorageClient) {
        self.mock = mock
        self.engine = engine
        whole = (OracleViewer(mock, Query(in: OraclePair.covered)), OracleViewer(engine, Query(in: OraclePair.covered)))
    }

    private var both: [any StorageClient] { [mock, engine] }

    func commit(_ batch: WriteBatch) async throws {
        for client in both {
            do throws(StorageError) {
                let receipt = try await client.commit(batch)
                if isOnline { _ = try? await receipt.acknowledged() }
            } catch {
                // What is no write at all is refused at once, by both.
                guard error.code == .invalidArgument else { throw error }
            }
        }
    }

    func setNetwork(_ isOnline: Bool) async throws {
        self.isOnline = isOnline
        for client in both {
            if isOnline {
                try await client.enableNetwork()
                try await client.waitForPendingWrites()
            } else {
                try await client.disableNetwork()
            }
        }
    }

    func watch(_ query: Query) { viewers.append((OracleViewer(mock, query), OracleViewer(engine, query))) }
    func watch(_ path: StoragePath) { viewers.append((OracleViewer(mock, path), OracleViewer(engine, path))) }

    func leaveOldest() {
        guard !viewers.isEmpty else { return }
        let viewer = viewers.removeFirst()
        viewer.mock.leave()
        viewer.engine.leave()
    }

    func compareStreams() async throws {
        for viewer in [whole] + viewers where isOnline || viewer.mock.isCovered {
            do {
                try await eventually("both show the same", within: .seconds(10)) {
                    viewer.mock.newest != nil && viewer.mock.newest == viewer.engine.newest
                }
            } catch {
                throw OracleDifference(
                    description: """
                        \(viewer.mock.name), \(isOnline ? "online" : "offline")
                        the mock shows   \(viewer.mock.newest?.text ?? "nothing")
                        the engine shows \(viewer.engine.newest?.text ?? "nothing")
                        """)
            }
        }
    }

    func compareQueues() async throws {
        var seen: [(pending: [WriteBatch], refused: [WriteBatch])] = []
        for client in both {
            var (pending, refused): ([WriteBatch], [WriteBatch]) = ([], [])
            for try await list in client.pendingWrites() {
                pending = list.map(\.batch)
                break
            }
            for try await list in client.refusedWrites() {
                refused = list.map(\.batch)
                break
            }
            seen.append((pending, refused))
        }
        guard seen[0] == seen[1] else { throw OracleDifference(description: "queues: \(seen[0])\nand \(seen[1])") }
    }

    func compareResults(of query: Query) async throws {
        guard isOnline || query.source == .collection(OraclePair.covered) else { return }
        try await compare(query.plain) { client throws(StorageError) in OracleShown(try await client.documents(query))
        }
    }

    func compareDocument(_ path: StoragePath) async throws {
        guard isOnline || path.collection == OraclePair.covered else { return }
        try await compare("\(path)") { client throws(StorageError) in OracleShown(try await client.document(path)) }
    }

    private func compare(
        _ name: String, _ read: (any StorageClient) async throws(StorageError) -> OracleShown
    ) async throws {
        var seen: [Result<OracleShown, StorageError>] = []
        for client in both {
            do throws(StorageError) { seen.append(.success(try await read(client))) } catch {
                seen.append(.failure(error))
            }
        }
        switch (seen[0], seen[1]) {
        case (.success(let mock), .success(let engine)) where mock == engine: return
        case (.failure(let mock), .failure(let engine)) where mock.code == engine.code: return
        // Of a document that is missing, a cache may know so, or nothing at all.
        case (.success(let known), .failure(let error)) where known.isMissingFromCache && error.code == .unavailable,
            (.failure(let error), .success(let known)) where known.isMissingFromCache && error.code == .unavailable:
            return
        default:
            throw OracleDifference(
                description: """
                    \(name), \(isOnline ? "online" : "offline"), asked for
                    the mock says   \(text(seen[0]))
                    the engine says \(text(seen[1]))
                    """)
        }
    }

    private func text(_ result: Result<OracleShown, StorageError>) -> String {
        switch result {
        case .success(let shown): shown.text
        case .failure(let error): "\(error)"
        }
    }

    func end() async {
        while !viewers.isEmpty { leaveOldest() }
        whole.mock.leave()
        whole.engine.leave()
        for client in both { await client.shutDown() }
    }
}

/// A reader of the newest state of a stream.
final class OracleViewer: Sendable {
    let name: String
    /// Whether everything that it reads is in the cache of a device; see ``OraclePair/covered``.
    let isCovered: Bool
    private let state = Mutex<OracleShown?>(nil)
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ client: any StorageClient, _ query: Query) {
        name = query.plain
        isCovered = query.source == .collection(OraclePair.covered)
        follow(
            client.snapshots(of: query, options: OracleViewer.options).mapElements(OracleShown.init, failure: { $0 }))
    }

    init(_ client: any StorageClient, _ path: StoragePath) {
        name = "\(path)"
        isCovered = path.collection == OraclePair.covered
        follow(client.snapshots(of: path, options: OracleViewer.options).mapElements(OracleShown.init, failure: { $0 }))
    }

    private static var options: ListenOptions {
        var options = ListenOptions()
        options.includesMetadataChanges = true
        return options
    }

    private func follow(_ stream: SnapshotStream<OracleShown, StorageError>) {
        let watching = Task { [weak self] in
            do {
                for try await shown in stream { self?.state.withLock { $0 = shown } }
            } catch {
                // Whoever has left does not care how it ends.
                if !Task.isCancelled { Issue.record("\(self?.name ?? "") ended: \(error)") }
            }
        }
        task.withLock { $0 = watching }
    }

    var newest: OracleShown? { state.withLock { $0 } }
    func leave() { task.withLock { $0 }?.cancel() }
}

// A driver as somebody outside of this package writes one: every name of Switchyard in this file is public.
import Foundation
import Switchyard
import SwitchyardSync
import Synchronization

/// A server that can read and write documents, and knows when any of them changed. Nothing more.
final class TinyServer: Sendable {
    private struct State {
        var documents: [StoragePath: DocumentSnapshot] = [:]
        var seconds: Int64 = 1_700_000_000
        var watchers: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    func read() throws(StorageError) -> (documents: [StoragePath: DocumentSnapshot], time: Timestamp) {
        try state.withLock { state throws(StorageError) in
            (state.documents, try Timestamp(validatingSeconds: state.seconds, nanoseconds: 0))
        }
    }

    func commit(_ writes: [DocumentWrite]) throws(StorageError) -> Timestamp {
        let (time, watchers) = try state.withLock { state throws(StorageError) in
            let time = try Timestamp(validatingSeconds: state.seconds + 1, nanoseconds: 0)
            var documents = state.documents
            for write in writes {
                let document = try write.carriedOut(on: documents[write.path] ?? .missing(write.path), at: time)
                documents[write.path] = document.exists ? document : nil
            }
            state.documents = documents
            state.seconds += 1
            return (time, Array(state.watchers.values))
        }
        for watcher in watchers { watcher() }
        return time
    }

    func watch(_ watcher: AnyObject, _ changed: (@Sendable () -> Void)?) {
        state.withLock { $0.watchers[ObjectIdentifier(watcher)] = changed }
    }
}

struct TinyDriver: SyncDriver {
    let provider: InfrastructureProvider = "tiny"
    let traits = SyncDriverTraits(hasLedger: false)
    let server: TinyServer

    var capabilities: StorageCapabilities {
        var capabilities = StorageCapabilities.all
        capabilities.transactions = false
        capabilities.listCollections = false
        capabilities.recursiveDelete = false
        return capabilities
    }

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> FetchedDocuments {
        let (documents, time) = try server.read()
        return FetchedDocuments(documents: paths.map { documents[$0] ?? .missing($0) }, readTime: time)
    }

    func results(of query: Query) async throws(StorageError) -> FetchedDocuments {
        let (documents, time) = try server.read()
        return FetchedDocuments(documents: query.results(among: documents.values), readTime: time)
    }

    func openWatch() async throws(StorageError) -> any WatchConnection { TinyWatch(server) }

    func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
        do throws(StorageError) {
            return CommitResult(commitTime: try server.commit(batch.writes))
        } catch {
            throw error.asRefusal()
        }
    }
}

/// The server has no deltas, so after every change each target is sent again; the engine finds out what is different.
final class TinyWatch: WatchConnection {
    private let server: TinyServer
    private let targets = Mutex<[Int: WatchTarget]>([:])
    private let events: AsyncStream<WatchEvent>
    private let continuation: AsyncStream<WatchEvent>.Continuation

    init(_ server: TinyServer) {
        self.server = server
        (events, continuation) = AsyncStream.makeStream()
        server.watch(self) { [weak self] in self?.tell() }
    }

    func next() async throws(StorageError) -> WatchEvent? {
        for await event in events { return event }
        return nil
    }

    func close() {
        server.watch(self, nil)
        continuation.finish()
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
        tell()
    }

    private func tell() {
        // The lock keeps the events of two changes apart.
        targets.withLock { targets in
            guard !targets.isEmpty, let (documents, time) = try? server.read() else { return }
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
            continuation.yield(.snapshot(version: time))
        }
    }
}

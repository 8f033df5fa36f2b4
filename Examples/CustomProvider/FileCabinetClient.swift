import Switchyard
import Synchronization

/// A custom storage client, using only public API.
///
/// It does not declare what it lacks (transactions, collection groups, a cache), so calls for those are refused.
final class FileCabinetClient: StorageClient {
    private struct State {
        var isShutDown = false
        /// The closures that end the open streams.
        var streams: [Int: @Sendable (StorageError) -> Void] = [:]
        var lastStream = 0
    }

    private let cabinet: FileCabinet
    private let state = Mutex(State())

    init(cabinet: FileCabinet) { self.cabinet = cabinet }

    var provider: InfrastructureProvider { .fileCabinet }

    static let capabilities: StorageCapabilities = {
        var capabilities = StorageCapabilities()
        capabilities.liveStreams = true
        capabilities.alternatives = true
        capabilities.negations = true
        capabilities.versionPreconditions = true
        capabilities.aggregates = true
        capabilities.openSchema = true
        capabilities.openTypes = true
        capabilities.mixedBatches = true
        capabilities.transforms = true
        capabilities.maximumBatchSize = 500
        return capabilities
    }()
    var capabilities: StorageCapabilities { Self.capabilities }

    // MARK: Reading

    func document(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        try path.checked()
        try check(source)
        return cabinet.document(path)
    }

    func documents(_ query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        try check(source)
        try check(query)
        return QuerySnapshot(query: query, documents: query.results(among: cabinet.documents))
    }

    func snapshots(
        of path: StoragePath, options: ListenOptions
    ) -> SnapshotStream<DocumentSnapshot, StorageError> {
        if let mistake = path.mistake { return .failing(mistake) }
        return stream(options) { documents, last in
            let document = documents.first { $0.path == path } ?? .missing(path)
            return document == last ? nil : document
        }
    }

    func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError> {
        do throws(StorageError) {
            try check(query)
        } catch {
            return .failing(error)
        }
        return stream(options) { documents, last in
            let snapshot = QuerySnapshot(query: query, documents: query.results(among: documents), following: last)
            return last != nil && snapshot.changes.isEmpty ? nil : snapshot
        }
    }

    // MARK: Writing

    func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        try checkOpen()
        try batch.checked()
        guard batch.count <= 500 else {
            throw StorageError(.invalidArgument, "A batch has at most 500 writes; this one has \(batch.count).")
        }
        return WriteReceipt(batchID: "\(batch.hashValue)", acknowledged: try cabinet.carryOut(batch.writes))
    }

    // MARK: What it refuses

    private func checkOpen() throws(StorageError) {
        if state.withLock({ $0.isShutDown }) { throw Self.shutDownError }
    }

    private static let shutDownError = StorageError(.shutDown, "The client was shut down.")

    private func check(_ source: ReadSource) throws(StorageError) {
        try checkOpen()
        if source == .cache {
            throw .unsupported("reading from a cache", by: provider, instead: "Read from the server.")
        }
    }

    private func check(_ query: Query) throws(StorageError) {
        try query.checked()
        if case .group = query.source {
            throw .unsupported("queries over several collections", by: provider, instead: "Query each collection.")
        }
    }

    /// One subscription for each iteration. `next` makes an element from all documents and the previous element.
    private func stream<Element: Sendable>(
        _ options: ListenOptions, _ next: @escaping @Sendable ([DocumentSnapshot], Element?) -> Element?
    ) -> SnapshotStream<Element, StorageError> {
        guard options.source == .standard else {
            return .failing(.unsupported("listening to a cache", by: provider, instead: "Listen to the server."))
        }
        return SnapshotStream { [self] continuation in
            guard let id = open({ continuation.finish(throwing: $0) }) else {
                continuation.finish(throwing: Self.shutDownError)
                return {}
            }
            let last = Mutex<Element?>(nil)
            let stopReading = cabinet.read { documents in
                let element = last.withLock { last -> Element? in
                    guard let element = next(documents, last) else { return nil }
                    last = element
                    return element
                }
                if let element { continuation.yield(element) }
            }
            return {
                stopReading()
                self.state.withLock { $0.streams[id] = nil }
            }
        }
    }

    // MARK: Life

    /// - Returns: `nil` after the end.
    private func open(_ finish: @escaping @Sendable (StorageError) -> Void) -> Int? {
        state.withLock { state in
            guard !state.isShutDown else { return nil }
            state.lastStream += 1
            state.streams[state.lastStream] = finish
            return state.lastStream
        }
    }

    func shutDown() async {
        let streams = state.withLock { state in
            defer { state.streams = [:] }
            state.isShutDown = true
            return Array(state.streams.values)
        }
        for finish in streams { finish(Self.shutDownError) }
    }
}

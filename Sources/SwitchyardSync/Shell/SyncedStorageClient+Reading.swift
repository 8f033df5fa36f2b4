public import Switchyard
import Synchronization

extension SyncedStorageClient {
    public func snapshot(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        try await snapshots(of: [path], from: source)[0]
    }

    public func snapshots(
        of paths: [StoragePath], from source: ReadSource
    ) async throws(StorageError) -> [DocumentSnapshot] {
        var unique: [StoragePath] = []
        var seen = Set<StoragePath>()
        for path in paths where seen.insert(path).inserted { unique.append(path) }
        switch try await read(.documents(unique), source) {
        case .fetched(let documents):
            if documents.count == paths.count { return documents }
            let byPath = Dictionary(documents.map { ($0.path, $0) }) { first, _ in first }
            return paths.map { byPath[$0] ?? .missing($0) }
        case .cached(let reason):
            var result: [DocumentSnapshot] = []
            for path in paths {
                guard let document = try await engine.cached(path) else {
                    throw reason ?? StorageError(.unavailable, "The document at “\(path)” is not in the cache.")
                }
                result.append(document)
            }
            return result
        }
    }

    public func results(of query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        let live = QueryShape.live(query)
        let documents: [DocumentSnapshot]
        let isFromCache: Bool
        switch try await read(.results(live), source) {
        case .fetched(let fetched):
            documents = fetched
            isFromCache = false
        case .cached:
            documents = try await engine.cached(live)
            isFromCache = true
        }
        let results = QueryEvaluator(query).results(among: documents)
        return QuerySnapshot(
            query: query, documents: results.map { $0.projected(for: query) },
            metadata: SnapshotMetadata(
                isFromCache: isFromCache, hasPendingWrites: results.contains { $0.metadata.hasPendingWrites }))
    }

    public func aggregate(
        _ query: Query, _ aggregations: [Aggregation]
    ) async throws(StorageError) -> [DocumentValue] {
        try await checkServer()
        return try await driver.aggregate(query, aggregations)
    }

    public func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        try await checkServer()
        return try await driver.collections(under: document)
    }

    private enum Read {
        /// As the server ordered them, with pending writes over and behind them.
        case fetched([DocumentSnapshot])
        /// Why the server was not asked or did not answer.
        case cached(StorageError?)
    }

    enum Request {
        case documents([StoragePath])
        case results(Query)
    }

    private func read(_ request: Request, _ source: ReadSource) async throws(StorageError) -> Read {
        guard source != .cache else { return .cached(nil) }
        do throws(StorageError) {
            // A write of this device that the server took while it was being asked is neither in the answer nor pending any
            // more, so the server is asked again. Where writes never pause, an answer a moment old will have to do.
            var attempt = 1
            while true {
                try await checkServer()
                let mark = await engine.acknowledgedCount
                let fetched =
                    switch request {
                    case .documents(let paths): try await driver.documents(paths)
                    case .results(let query): try await driver.results(of: query)
                    }
                let documents = try await engine.take(fetched, of: request, since: attempt < 4 ? mark : nil)
                if let documents { return .fetched(documents) }
                attempt += 1
            }
        } catch {
            guard source == .standard, error.code == .unavailable || error.code == .deadlineExceeded else {
                throw error
            }
            return .cached(error)
        }
    }

    /// - Throws: `.unavailable` while the network is switched off, and `.shutDown`.
    func checkServer() async throws(StorageError) {
        if await engine.isShutDown { throw StorageError(.shutDown, "The client was shut down.") }
        guard isNetworkEnabled.withLock({ $0 }) else {
            throw StorageError(.unavailable, "The network is switched off for this client.")
        }
    }
}

extension SyncEngine {
    /// What the server answered, with this device's pending writes among it.
    ///
    /// - Parameter mark: ``acknowledgedCount`` before the server was asked; `nil` takes any answer.
    /// - Returns: `nil` if the server has taken a write since then that the answer does not show.
    func take(
        _ fetched: FetchedDocuments, of request: SyncedStorageClient.Request, since mark: Int?
    ) throws(StorageError) -> [DocumentSnapshot]? {
        let machine = try machine()
        let local = machine.take(fetched)
        perform(machine.takeActions())
        if let mark, mark != acknowledgedCount, lastCommitTime > fetched.readTime { return nil }
        let documents = local.isEmpty ? fetched.documents : fetched.documents.map { local[$0.path] ?? $0 }
        guard case .results(let query) = request, machine.isOwnerPresent, try machine.hasQueue() else {
            return documents
        }
        let pending = try machine.run(query).filter { $0.metadata.localState == .pending && local[$0.path] == nil }
        return documents + pending
    }

    func cached(_ path: StoragePath) throws(StorageError) -> DocumentSnapshot? {
        try machine().document(at: path).map {
            $0.with(SnapshotMetadata(isFromCache: true, localState: $0.metadata.localState))
        }
    }

    func cached(_ query: Query) throws(StorageError) -> [DocumentSnapshot] {
        try machine().run(query).map {
            $0.with(SnapshotMetadata(isFromCache: true, localState: $0.metadata.localState))
        }
    }
}

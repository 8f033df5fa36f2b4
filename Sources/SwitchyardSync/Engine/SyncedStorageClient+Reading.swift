public import Switchyard
import Synchronization

extension SyncedStorageClient {
    public func document(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        try await documents([path], from: source)[0]
    }

    public func documents(
        _ paths: [StoragePath], from source: ReadSource
    ) async throws(StorageError) -> [DocumentSnapshot] {
        for path in paths { try path.checked() }
        var unique: [StoragePath] = []
        var seen = Set<StoragePath>()
        for path in paths where seen.insert(path).inserted { unique.append(path) }
        await session?.catchUp()
        let answer = try await engine.read(.documents(unique), source)
        if !answer.isFromCache, answer.documents.count == paths.count { return answer.documents }
        let byPath = Dictionary(answer.documents.map { ($0.path, $0) }) { first, _ in first }
        var result: [DocumentSnapshot] = []
        for path in paths {
            let path = answer.names[path] ?? path
            guard let document = byPath[path] ?? (answer.isFromCache ? nil : .missing(path)) else {
                throw answer.reason ?? StorageError(.unavailable, "The document at “\(path)” is not in the cache.")
            }
            result.append(document)
        }
        return result
    }

    public func documents(_ query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        try query.checked()
        await session?.catchUp()
        let answer = try await engine.read(.results(QueryShape.live(query)), source)
        let query = query.mappingPaths { answer.names[$0] ?? $0 }
        let results = query.results(in: answer.documents, areDecided: answer.areDecided)
        return QuerySnapshot(
            query: query, documents: results.projected(for: query),
            metadata: SnapshotMetadata(
                isFromCache: answer.isFromCache, hasPendingWrites: results.contains { $0.metadata.hasPendingWrites },
                serverError: answer.reason), cut: answer.cut)
    }

    public func aggregate(
        _ query: Query, _ aggregations: [Aggregation]
    ) async throws(StorageError) -> [DocumentValue] {
        try query.checked()
        await session?.catchUp()
        try await engine.checkServer()
        return try await driver.aggregate(engine.named(query), aggregations)
    }

    public func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        try document?.checked()
        try await engine.checkServer()
        var document = document
        if let given = document { document = try await engine.named(given) }
        return try await driver.collections(under: document)
    }

    public func dividers(ofGroup group: String, into count: Int) async throws(StorageError) -> [StoragePath] {
        try Query(group: group).checked()
        try await engine.checkServer()
        return try await driver.dividers(ofGroup: group, into: count)
    }
}

extension StorageError {
    /// A read for a user who is no longer signed in, or from before the device's data were deleted.
    fileprivate static let readerLeft = StorageError(
        .sessionChanged,
        "The answer was dropped because the session changed, or this device's data were deleted, while the call was running. Read again."
    )
}

extension SyncEngine {
    struct Answer {
        /// In the server's order, with pending writes applied, and new ones after them. For reads of single documents from
        /// the cache, only the cached ones.
        let documents: [DocumentSnapshot]
        let isFromCache: Bool
        /// Why the server was not asked or did not answer.
        var reason: StorageError?
        /// Where a limit has cut off the server's answer.
        var cut: QueryCut?
        /// Whether the documents are a query's results in order.
        var areDecided = false
        /// The names of documents in the request that have others by now.
        var names: [StoragePath: StoragePath] = [:]
    }

    func read(_ given: ReadRequest, _ source: ReadSource) async throws(StorageError) -> Answer {
        guard source != .cache else { return try cached(given) }
        var request = given
        do throws(StorageError) {
            // If the server accepted a local write during the request, and the answer may be older, it is asked again. If
            // writes never pause, a slightly outdated answer has to do.
            lastRead += 1
            let id = lastRead
            defer {
                openReads[id] = nil
                showStatus()
            }
            var attempt = 1
            var doubted: [StoragePath: Timestamp] = [:]
            while true {
                try checkServer()
                request = try named(given)
                let (asked, reader) = (try machine(), owner)
                openReads[id] = OpenRead(request)
                showStatus()
                var fetched =
                    switch request {
                    case .documents(let paths): try await driver.documents(paths)
                    case .results(let query): try await driver.results(of: query)
                    }
                // What was on its way during a wipe, or for the user before, is neither stored nor shown.
                if isShutDown { try checkServer() }
                guard openMachine === asked, owner == reader else { throw .readerLeft }
                // A document may have got its name meanwhile.
                guard try named(given) == request else { continue }
                if attempt < 4, openReads[id]?.isSettled(by: fetched) == false {
                    attempt += 1
                    continue
                }
                let newer = newerInCache(than: fetched)
                if attempt < 4, newer.contains(where: { doubted[$0.key] != $0.value }) {
                    doubted = newer
                    attempt += 1
                    continue
                }
                // The cached version is older than the request, so the server's answer wins.
                for (path, version) in newer where doubted[path] == version {
                    fetched.deletionTimes[path] = Timestamp(microseconds: version.microseconds + 1)
                }
                let documents = try take(fetched, of: request)
                lastReadFailure = nil
                noteAnswer()
                var answer = Answer(documents: documents, isFromCache: false)
                if case .results(let query) = request { answer.cut = fetched.cut(by: query) }
                answer.areDecided = fetched.areDecided
                if request != given { answer.names = try names(in: given) }
                return answer
            }
        } catch {
            statusWatchers.noteFailure(error)
            showStatus()
            guard source == .standard, error.code == .unavailable || error.code == .deadlineExceeded else {
                throw error
            }
            noteReadTrouble(error)
            return try cached(given, for: error)
        }
    }

    /// An empty answer from the cache looks like the server's, so the observer is told why it is not, unless the network was
    /// switched off on purpose.
    private func noteReadTrouble(_ error: StorageError) {
        let failure = InfrastructureEvent.Failure(error)
        guard isNetworkEnabled, lastReadFailure != failure else { return }
        lastReadFailure = failure
        report(.readFromCache(failure: failure))
    }

    /// - Throws: `.unavailable` while the network is switched off, and `.shutDown`.
    func checkServer() throws(StorageError) {
        if isShutDown { throw StorageError(.shutDown, "The client was shut down.") }
        guard isNetworkEnabled else { throw .networkSwitchedOff }
        // The driver is told the store's version before it is asked for anything. If the store cannot be opened now, the calls
        // that need it say so.
        if !hasBegun { _ = try? machine() }
    }

    /// The documents missing in the answer as of a time before their known version: a server without deletion times can
    /// answer only as of the oldest open transaction of any client. If the store cannot be read, none.
    private func newerInCache(than answer: FetchedDocuments) -> [StoragePath: Timestamp] {
        var newer: [StoragePath: Timestamp] = [:]
        for index in answer.documents.indices where !answer.documents[index].exists {
            let path = answer.documents[index].path
            if let known = try? machine().local.foundVersion(of: path), known > answer.missingTime(of: path) {
                newer[path] = known
            }
        }
        return newer
    }

    /// The server's answer with this device's pending writes applied.
    private func take(
        _ fetched: FetchedDocuments, of request: ReadRequest
    ) throws(StorageError) -> [DocumentSnapshot] {
        let machine = try machine()
        defer { perform(machine.takeActions()) }
        let local = try machine.take(fetched)
        let documents = local.isEmpty ? fetched.documents : fetched.documents.map { local[$0.path] ?? $0 }
        guard case .results(let query) = request, try machine.hasQueue() else {
            return documents
        }
        let pending = try machine.run(query).filter { $0.metadata.localState == .pending && local[$0.path] == nil }
        if fetched.areDecided {
            return ServerWord.results(of: query, documents, and: pending, isCut: fetched.cut(by: query) != nil)
        }
        guard let cut = fetched.cut(by: query) else { return documents + pending }
        // Behind the end of the answer there may be documents that this device does not know, before any pending one.
        guard let edge = cut.last else { return [] }
        let evaluator = QueryEvaluator(query)
        return (documents + pending).filter { evaluator.ordering($0, edge) != .after }
    }

    private func cached(_ request: ReadRequest, for reason: StorageError? = nil) throws(StorageError) -> Answer {
        let machine = try machine()
        var documents: [DocumentSnapshot] = []
        switch request {
        case .documents(let paths):
            for path in paths { if let document = try machine.document(at: path) { documents.append(document) } }
        case .results(let query): documents = try machine.run(query)
        }
        return Answer(
            documents: documents.map {
                $0.with(
                    SnapshotMetadata(isFromCache: true, localState: $0.metadata.localState, serverError: reason))
            }, isFromCache: true, reason: reason, names: try names(in: request))
    }
}

import Switchyard

extension LocalStore {
    struct QueryResult {
        /// The local matches; with a limit, perhaps more than it allows.
        var documents: Documents
        /// The documents that the server has confirmed for the target.
        var confirmed: Set<StoragePath>
    }

    /// Runs a query on the cache and the pending writes.
    ///
    /// - Parameter usesConfirmed: Whether to start from the confirmed results; `false` if they may be incomplete.
    func run(_ query: LiveQuery, usesConfirmed: Bool = true) throws(StorageError) -> QueryResult {
        let target = query.target
        let record = active.values.first { $0.target == target }
        return try perform(.runQuery) { transaction throws(StorageError) in
            var confirmed = Set<StoragePath>()
            if usesConfirmed, let record { confirmed = try transaction.rows.confirmedKeys(of: record.id) }
            switch query {
            case .document(let path):
                let documents = try transaction.localDocuments(at: [path]).filter { $0.value.exists }
                return QueryResult(documents: documents, confirmed: confirmed)
            case .query(let query):
                let evaluator = QueryEvaluator(query)
                if usesConfirmed, let record, record.isDecided {
                    let documents = try transaction.results(evaluator, among: confirmed, since: record.version)
                    return QueryResult(documents: documents, confirmed: confirmed)
                }
                let limboFree = usesConfirmed ? record?.lastLimboFreeVersion ?? .never : .never
                if limboFree != .never, !query.isWholeCollection,
                    let documents = try transaction.matches(evaluator, from: confirmed, since: limboFree)
                {
                    return QueryResult(documents: documents, confirmed: confirmed)
                }
                let documents = try transaction.matches(evaluator, readAfter: nil)
                return QueryResult(documents: documents, confirmed: confirmed)
            }
        }
    }
}

extension LocalTransaction {
    /// The results that the server decided, and those local matches that it may not know: with pending writes, or with
    /// acknowledged ones after `version`.
    fileprivate func results(
        _ evaluator: QueryEvaluator, among confirmed: Set<StoragePath>, since version: Timestamp
    ) throws(StorageError) -> LocalStore.Documents {
        var documents = try localDocuments(at: confirmed).filter {
            $0.value.metadata.hasPendingWrites ? evaluator.matches($0.value) : $0.value.exists
        }
        let source = evaluator.query.source
        let overlays = try rows.overlays(of: owner, in: source, afterBatch: nil)
        let pending = try localDocuments(at: overlays.map(\.path))
        for (path, document) in pending where evaluator.matches(document) { documents[path] = document }
        let screen = DocumentPrefilter(fields: evaluator.decidingFields, rejects: evaluator.rejects) { cached in
            guard cached.hasCommittedMutations, pending[cached.path] == nil, let data = cached.data else {
                return false
            }
            return evaluator.matches(cached.path, data)
        }
        try rows.forEachDocument(in: source, readAfter: version, screen: screen) { cached in
            documents[cached.path] = cached.snapshot
        }
        return documents
    }

    /// The matches among the confirmed documents and those read since; `nil` when a limit makes that unsafe.
    fileprivate func matches(
        _ evaluator: QueryEvaluator, from confirmed: Set<StoragePath>, since version: Timestamp
    ) throws(StorageError) -> LocalStore.Documents? {
        var documents = try localDocuments(at: confirmed).filter { evaluator.matches($0.value) }
        if let limit = evaluator.query.limit {
            // When a document has left the result, one that is older than the result may take its place.
            guard documents.count == confirmed.count else { return nil }
            let sorted = documents.values.sorted { evaluator.ordering($0, $1) == .before }
            let edge = if case .first = limit { sorted.last } else { sorted.first }
            if let edge, edge.metadata.localState != .none || edge.updateTime ?? .never > version { return nil }
        }
        for (path, document) in try matches(evaluator, readAfter: version) { documents[path] = document }
        return documents
    }

    /// The matches among all cached documents, or those read after a version, and all with pending writes. The limit applies
    /// to those without pending writes.
    fileprivate func matches(
        _ evaluator: QueryEvaluator, readAfter version: Timestamp?
    ) throws(StorageError) -> LocalStore.Documents {
        let source = evaluator.query.source
        var overlays: [StoragePath: Overlay] = [:]
        for overlay in try rows.overlays(of: owner, in: source, afterBatch: nil) { overlays[overlay.path] = overlay }
        var result: LocalStore.Documents = [:]
        let nearest = NearestDocuments(evaluator)
        // Documents with pending writes follow below, so the cached data decides here.
        let bounds = nearest == nil ? evaluator.fieldBounds : []
        let screen = DocumentPrefilter(fields: evaluator.decidingFields) {
            nearest?.bounds ?? bounds
        } rejects: { data in
            nearest?.excludes(data) == true || evaluator.rejects(data)
        } admits: { cached in
            guard overlays[cached.path] == nil, cached.state == .found, let data = cached.data,
                evaluator.matches(cached.path, data)
            else { return false }
            guard let nearest else { return true }
            nearest.take(cached.snapshot)
            return false
        }
        try rows.forEachDocument(in: source, readAfter: version, screen: screen) { cached in
            result[cached.path] = cached.snapshot
        }
        if let nearest {
            for case let cached? in try rows.documents(at: nearest.paths) { result[cached.path] = cached.snapshot }
        }
        for (path, document) in try pending(overlays) where evaluator.matches(document) { result[path] = document }
        return result
    }

    private func pending(_ overlays: [StoragePath: Overlay]) throws(StorageError) -> LocalStore.Documents {
        guard !overlays.isEmpty else { return [:] }
        let cached = try cachedDocuments(at: overlays.keys)
        var result: LocalStore.Documents = [:]
        for (path, overlay) in overlays {
            var document = LocalDocument(path, cached[path])
            document.apply(overlay)
            result[path] = document.snapshot
        }
        return result
    }
}

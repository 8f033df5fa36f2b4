public import Switchyard
import SwitchyardSync
import Synchronization

extension ModelServer {
    /// A batch that took effect on tables.
    public struct CarriedOut: Sendable {
        public let id: String
        public let paths: [StoragePath]
        /// The tag that its rows got.
        public let tag: Int
    }

    /// The batches that took effect on tables, in order: one that took effect twice is in it twice.
    public var carriedOut: [CarriedOut] { state.withLock { $0.rows.log } }

    /// Hides rows from everyone, as a policy does. No stream is notified.
    public func hide(_ isHidden: @escaping @Sendable (StoragePath) -> Bool) {
        state.withLock { $0.rows.isHidden = isHidden }
    }

    /// Sets why commits to tables fail without being refused, such as for a right that was revoked by mistake; `nil` for the
    /// end of the trouble.
    public func setTrouble(_ trouble: StorageError?) { state.withLock { $0.rows.trouble = trouble } }

    /// Lets each stream compare its results with the server's, as drivers do from time to time.
    public func checkStreams() {
        state.withLock { state in
            for connection in state.streams { connection.check(state) }
        }
    }

    /// The results of a query, in the server's order.
    public func rows(of query: Query) -> [DocumentSnapshot] {
        state.withLock { state in state.rows(of: query).compactMap { row in row.data.map { .existing(row.path, $0) } } }
    }

    /// Whether a path stands for a row without a key.
    func isProvisional(_ path: StoragePath) -> Bool { tables?.isProvisional(path) ?? false }

    // MARK: Calls

    /// The row that a batch added, if it is there.
    func addedRow(by id: String) throws(StorageError) -> ModelRow? {
        try state.withLock { state throws(StorageError) in
            guard state.isReachable else { throw ModelServer.unreachable }
            return state.addedRow(by: id)
        }
    }

    func fetchRows(_ paths: [StoragePath]) throws(StorageError) -> [ModelRow] {
        try state.withLock { state throws(StorageError) in
            guard state.isReachable else { throw ModelServer.unreachable }
            return paths.map { state.row(at: $0) }
        }
    }

    func fetchRows(of query: Query) throws(StorageError) -> [ModelRow] {
        try state.withLock { state throws(StorageError) in
            guard state.isReachable else { throw ModelServer.unreachable }
            return state.rows(of: query)
        }
    }

    /// Carries out all writes of a batch or none.
    ///
    /// - Parameters:
    ///   - batch: The batch. Unlike with documents, its ID means nothing to the server.
    ///   - conditions: The tags that rows must have, or `nil` for those that must be missing.
    /// - Returns: For each write, its row; `nil` if a condition does not hold.
    func commitRows(
        _ batch: OutgoingBatch, if conditions: [StoragePath: DocumentTag?]
    ) throws(StorageError) -> [ModelRow]? {
        try state.withLock { state throws(StorageError) in
            guard state.isReachable else { throw ModelServer.unreachable }
            return try state.carryOut(batch, if: conditions)
        }
    }

    /// Lets a commit wait for a lock.
    func hold(_ batch: OutgoingBatch, if conditions: [StoragePath: DocumentTag?]) {
        state.withLock { $0.rows.held.append(HeldCommit(batch: batch, conditions: conditions)) }
    }

    /// Releases the locks for which commits wait.
    ///
    /// - Parameter id: The batch whose commits end, now or never, as after a statement's longest time; by default, all take
    ///   effect.
    public func releaseLocks(for id: String? = nil) {
        state.withLock { state in
            let ended = state.rows.held.filter { id == nil || $0.batch.id == id }
            state.rows.held.removeAll { id == nil || $0.batch.id == id }
            for commit in ended where id == nil || state.faultState.happens(50) {
                _ = try? state.carryOut(commit.batch, if: commit.conditions)
            }
        }
    }
}

extension ModelServer.State {
    func row(at path: StoragePath) -> ModelRow {
        guard !rows.isHidden(path), let data = self[path]?.data else {
            return ModelRow(path: path, data: nil, tag: nil)
        }
        return ModelRow(path: path, data: data, tag: tag(of: path))
    }

    private func tag(of path: StoragePath) -> DocumentTag? { rows.tags[path].map { DocumentTag(rawValue: "\($0)") } }

    func rows(of query: Query) -> [ModelRow] {
        let evaluator = QueryEvaluator(query)
        let visible = documents(in: query.source).filter { !rows.isHidden($0.path) }
        let collation = tables?.collation ?? { $0 }
        let collated = visible.map { document in
            DocumentSnapshot.existing(
                document.path,
                DocumentData(
                    (document.data ?? [:]).map { field in
                        guard case .string(let text) = field.value else { return (field.name, field.value) }
                        return (field.name, .string(collation(text)))
                    }))
        }
        return evaluator.results(among: collated).map { row(at: $0.path) }
    }

    fileprivate func addedRow(by id: String) -> ModelRow? {
        rows.witnesses[id].flatMap { self[$0] == nil ? nil : row(at: $0) }
    }

    /// The batch with the key that the server makes for its row.
    private mutating func named(_ batch: OutgoingBatch) -> OutgoingBatch {
        rows.lastKey += 1
        let writes = batch.writes.map { write in
            DocumentWrite(
                path: write.path.collection.document("\(rows.lastKey)"), operation: write.operation,
                transforms: write.transforms, precondition: write.precondition)
        }
        return OutgoingBatch(id: batch.id, writes: writes, mayHaveBeenSent: batch.mayHaveBeenSent)
    }

    fileprivate mutating func carryOut(
        _ batch: OutgoingBatch, if conditions: [StoragePath: DocumentTag?]
    ) throws(StorageError) -> [ModelRow]? {
        if let trouble = rows.trouble { throw trouble }
        if batch.isAddition {
            // A value of it is taken: its own.
            if let row = addedRow(by: batch.id) { return [row] }
            let named = named(batch)
            let added = try carryOut(named, if: [:])
            rows.witnesses[batch.id] = named.writes[0].path
            return added
        }
        if let tables, batch.writes.contains(where: { $0.mentions { tables.isProvisional($0) } }) {
            throw StorageError(.invalidArgument, "No row can have this key.").asRefusal()
        }
        let paths = batch.writes.filter { $0.operation != .verify }.map(\.path)
        guard !paths.contains(where: rows.isHidden) else {
            throw StorageError(.unauthorized, "New row violates row-level security policy.").asRefusal()
        }
        for (path, tag) in conditions where self.tag(of: path) != tag { return nil }
        let hadEffect = batch.writes.contains { $0.operation != .delete || self[$0.path] != nil }
        do throws(StorageError) { _ = try commit(batch.writes) } catch {
            throw error.isRetryable ? error : error.asRefusal()
        }
        if hadEffect {
            rows.lastTag += 1
            rows.log.append(ModelServer.CarriedOut(id: batch.id, paths: paths, tag: rows.lastTag))
        }
        for path in Set(paths) {
            rows.tags[path] = self[path] == nil ? nil : rows.lastTag
            guard let document = self[path], let data = document.data, let trigger = tables?.trigger else { continue }
            collections[path.collection]?[path] = .existing(path, trigger(data))
        }
        for connection in streams { connection.serverChanged(paths, self) }
        return batch.writes.map { row(at: $0.path) }
    }
}

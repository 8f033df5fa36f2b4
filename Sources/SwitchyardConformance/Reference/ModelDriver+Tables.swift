import Switchyard
import SwitchyardSync

/// How a driver uses tables: everything that a server with a clock and a ledger would do is done with tags.
extension ModelDriver {
    /// Rows as of when the read began, and not older than an answer to a commit.
    func fetchRows(
        isQuery: Bool, _ body: (ModelServer) throws(StorageError) -> [ModelRow]
    ) async throws(StorageError) -> FetchedDocuments {
        while true {
            let (version, answers) = (sequence.next(), sequence.answers)
            let rows = try await call(body)
            guard sequence.answers == answers else { continue }
            var fetched = FetchedDocuments(documents: rows.map { $0.snapshot(at: version) }, readTime: version)
            for row in rows { fetched.tags[row.path] = row.tag }
            fetched.areDecided = isQuery
            return fetched
        }
    }

    func commitRows(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
        guard batch.mayHaveBeenSent else { return try await send(batch, if: [:])! }
        // The lost commit may still be waiting for a lock.
        try await call { server in server.releaseLocks(for: batch.id) }
        while true {
            let rows = try await call { server throws(StorageError) in
                try server.fetchRows(batch.writes.map(\.path))
            }
            guard !batch.isDone(in: rows) else { return answered(to: batch.writes.map(\.path), rows) }
            // Only what is still as it was read: then the batch takes effect once.
            var conditions: [StoragePath: DocumentTag?] = [:]
            for row in rows { conditions.updateValue(row.tag, forKey: row.path) }
            if let result = try await send(batch, if: conditions) { return result }
        }
    }

    /// Adds a row, once: one that a lost attempt has added is found by the name of the batch.
    func addRow(_ batch: OutgoingBatch) async throws(StorageError) -> (document: StoragePath, result: CommitResult) {
        var found: ModelRow?
        if batch.mayHaveBeenSent {
            // A lost attempt that still waits for a lock would add the row again once somebody has deleted it.
            try await call { server in server.releaseLocks(for: batch.id) }
            found = try await call { server throws(StorageError) in try server.addedRow(by: batch.id) }
        }
        if let found { return (found.path, answered(to: [found.path], [found])) }
        let rows = try await call { server throws(StorageError) in
            if server.happens(\.lateWrites) {
                server.hold(batch, if: [:])
                throw ModelServer.unreachable
            }
            return try server.commitRows(batch, if: [:])
        }
        guard let row = rows?.first else { throw ModelServer.unreachable }
        return (row.path, answered(to: [row.path], [row]))
    }

    /// - Returns: `nil` if a condition does not hold.
    private func send(
        _ batch: OutgoingBatch, if conditions: [StoragePath: DocumentTag?]
    ) async throws(StorageError) -> CommitResult? {
        let rows = try await call { server throws(StorageError) in
            if server.happens(\.lateWrites) {
                server.hold(batch, if: conditions)
                throw ModelServer.unreachable
            }
            return try server.commitRows(batch, if: conditions)
        }
        return rows.map { answered(to: batch.writes.map(\.path), $0) }
    }

    private func answered(to paths: [StoragePath], _ rows: [ModelRow]) -> CommitResult {
        let version = sequence.noteAnswer()
        server.noteAnswer(to: sequence, paths)
        var result = CommitResult(commitTime: version)
        result.outcomes = rows.map { row in
            server.tables?.returnsRows == false
                ? .unknown : .returned(row.snapshot(at: version), tag: row.tag)
        }
        return result
    }
}

extension OutgoingBatch {
    /// Whether an earlier attempt took effect, or someone else's write has replaced it: then that one counts.
    ///
    /// - Parameter rows: The row of each write, once no attempt can take effect any more.
    fileprivate func isDone(in rows: [ModelRow]) -> Bool {
        zip(writes, rows).enumerated().allSatisfy { index, pair in
            let (write, row) = pair
            let base = index < bases.count ? bases[index] : nil
            switch write.operation {
            case .verify: return true
            case .delete where row.tag == nil: return true
            case .set, .patch, .delete: break
            }
            // The key was made here.
            if case .exists(false) = write.precondition { return row.tag != nil }
            guard let base else {
                // Nothing is known about the row before. The same contents are as good as this write.
                if case .set(let data) = write.operation { return row.data == data }
                return false
            }
            return row.tag != base
        }
    }
}

extension ModelRow {
    fileprivate func snapshot(at version: Timestamp) -> DocumentSnapshot {
        data.map { .existing(path, $0, updateTime: version) } ?? .missing(path)
    }
}

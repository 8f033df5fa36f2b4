import Switchyard

extension LocalStore {
    /// Puts a batch into the queue and shows its effect.
    func write(
        _ writes: [DocumentWrite], as name: String, at time: Timestamp
    ) throws(StorageError) -> (QueuedBatch, Documents) {
        try perform(.writeLocally) { transaction throws(StorageError) in
            let rows = transaction.rows
            let paths = Set(writes.map(\.path))
            let cached = try transaction.cachedDocuments(at: paths)
            var entries: [StoragePath: WrittenDocument] = [:]
            for path in paths {
                entries[path] = WrittenDocument(
                    LocalDocument(path, cached[path]), under: try rows.overlay(of: transaction.owner, at: path))
            }

            transaction.globals.highestBatchNumber += 1
            let number = transaction.globals.highestBatchNumber
            let batch = QueuedBatch(
                number: number, id: name, writes: writes,
                baseWrites: writes.compactMap { $0.baseWrite(over: entries[$0.path]!.document) }, queuedAt: time)
            try rows.putBatch(batch, of: transaction.owner)

            batch.apply(to: &entries)
            var changes: Documents = [:]
            for (path, var entry) in entries {
                // What only writes of this device have made is there as a whole or not at all.
                if cached[path] == nil { entry.mask = .whole }
                if let overlay = entry.overlay { try rows.putOverlay(overlay, of: transaction.owner) }
                entry.document.settle()
                changes[path] = entry.document.snapshot
            }
            return (batch, changes)
        }
    }

    /// The server took a batch: its effect moves from the queue into the cache.
    ///
    /// - Parameter isDurable: Whether this, and what came before, must outlast a failure of power.
    func acknowledge(
        _ batch: QueuedBatch, _ result: CommitResult, isDurable: Bool
    ) throws(StorageError) -> Documents {
        try perform(isDurable ? .acknowledgeBatch : .acknowledgeAmongOthers) { transaction throws(StorageError) in
            let paths = batch.paths
            var cached = try transaction.cachedDocuments(at: paths)
            let before = cached
            for (path, places) in Dictionary(grouping: batch.writes.indices, by: { batch.writes[$0].path }) {
                let old = cached[path]
                let version = result.version(ofWrite: places.last!)
                guard old?.version ?? .never < version else { continue }
                let document = batch.committed(over: old, at: path, places, version: version, result: result)
                try transaction.put(document, replacing: old)
                cached[path] = document
            }
            let transformed = Set(batch.writes.filter { !$0.transforms.isEmpty }.map(\.path))
            let standing = transformed.filter { before[$0]?.state == .found && cached[$0]?.state == .found }
            try transaction.remove(batch, recomputing: transformed, over: cached, standing: standing)
            return try transaction.localDocuments(at: paths, cached: cached)
        }
    }

    /// A batch leaves the queue without effect.
    ///
    /// - Parameter refused: Where it goes instead, when somebody is to decide about it.
    func reject(_ batch: QueuedBatch, keeping refused: RefusedBatch?) throws(StorageError) -> Documents {
        try perform(.rejectBatch) { transaction throws(StorageError) in
            let cached = try transaction.cachedDocuments(at: batch.paths)
            try transaction.remove(batch, recomputing: batch.paths, over: cached)
            if let refused { try transaction.rows.putRefused(refused, of: transaction.owner) }
            return try transaction.localDocuments(at: batch.paths, cached: cached)
        }
    }

    /// That an attempt to send a batch failed.
    ///
    /// - Returns: The batch with that in it, if it is in the queue.
    func noteAttempt(on number: Int, error: StorageError.Code) throws(StorageError) -> QueuedBatch? {
        try perform(.noteAttempt) { transaction throws(StorageError) in
            guard var batch = try transaction.rows.batch(number, of: transaction.owner) else { return nil }
            batch.attempts += 1
            batch.lastError = error
            try transaction.rows.putBatch(batch, of: transaction.owner)
            return batch
        }
    }

    func batches(after number: Int = 0, limit: Int = .max) throws(StorageError) -> [QueuedBatch] {
        try perform(.readQueue) { transaction throws(StorageError) in
            try transaction.rows.batches(of: transaction.owner, after: number, limit: limit)
        }
    }

    func batch(_ number: Int) throws(StorageError) -> QueuedBatch? {
        try perform(.readQueue) { transaction throws(StorageError) in
            try transaction.rows.batch(number, of: transaction.owner)
        }
    }

    func highestBatchNumber() throws(StorageError) -> Int? {
        try perform(.readQueue) { transaction throws(StorageError) in
            try transaction.rows.highestBatchNumber(of: transaction.owner)
        }
    }

    func refusedBatches() throws(StorageError) -> [RefusedBatch] {
        try perform(.readQueue) { transaction throws(StorageError) in
            try transaction.rows.refusedBatches(of: transaction.owner)
        }
    }

    /// - Returns: Whether there was such a batch.
    func removeRefused(_ id: String) throws(StorageError) -> Bool {
        try perform(.resolveRefused) { transaction throws(StorageError) in
            let isThere = try transaction.rows.refusedBatches(of: transaction.owner).contains { $0.id == id }
            if isThere { try transaction.rows.removeRefused(id, of: transaction.owner) }
            return isThere
        }
    }
}

extension LocalTransaction {
    /// - Parameters:
    ///   - recomputed: Where the batches that stay may mean something else without this one.
    ///   - cached: The cached documents at the paths of the batch.
    ///   - standing: Those of the documents that were and are there.
    fileprivate func remove(
        _ batch: QueuedBatch, recomputing recomputed: Set<StoragePath>, over cached: [StoragePath: CachedDocument],
        standing: Set<StoragePath> = []
    ) throws(StorageError) {
        try rows.removeBatch(batch, of: owner)
        for path in batch.paths {
            try noteUse(of: path)
            try rows.removeOverlay(of: owner, at: path, ofBatch: batch.number)
        }
        try recomputeOverlays(at: recomputed, over: cached, standing: standing)
    }
}

extension DocumentWrite {
    /// What an increment starts from: the local view keeps to it even when the server's value, which may have the
    /// increment in it already, arrives before the acknowledgement.
    fileprivate func baseWrite(over document: LocalDocument) -> DocumentWrite? {
        var data = DocumentData()
        var mask: [FieldPath] = []
        for transform in transforms {
            guard case .increment = transform.operation else { continue }
            let old = document.data?[transform.field]
            data[transform.field] = old?.doubleValue == nil ? .integer(0) : old
            mask.append(transform.field)
        }
        guard !mask.isEmpty else { return nil }
        return DocumentWrite(path: path, operation: .patch(data, mask: mask), precondition: .exists(true))
    }
}

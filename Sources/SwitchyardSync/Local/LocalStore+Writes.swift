import Switchyard

extension LocalStore {
    /// Adds a batch to the queue and applies its effect.
    func write(
        _ writes: [DocumentWrite], as name: String, at time: Timestamp
    ) throws(StorageError) -> (QueuedBatch, Documents) {
        try perform(.writeLocally) { transaction throws(StorageError) in
            try transaction.queue(writes, as: name, at: time)
        }
    }

    /// Adds a batch to the queue in place of another one, since when it waits: both or neither.
    func replace(
        _ batch: QueuedBatch, by writes: [DocumentWrite], as name: String
    ) throws(StorageError) -> (QueuedBatch, Documents) {
        try perform(.writeLocally) { transaction throws(StorageError) in
            let cached = try transaction.cachedDocuments(at: batch.paths)
            try transaction.remove(batch)
            try transaction.recomputeOverlays(at: batch.paths, over: cached)
            return try transaction.queue(writes, as: name, at: batch.queuedAt)
        }
    }

    /// The server accepted a batch: its effect moves from the queue to the cache.
    ///
    /// - Parameter isDurable: Whether this and everything before must survive a power failure.
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
            let other = result.notAsSent(by: batch.writes)
            let transformed = Set(batch.writes.filter { !$0.transforms.isEmpty }.map(\.path)).subtracting(other)
            let standing = transformed.filter { before[$0]?.state == .found && cached[$0]?.state == .found }
            try transaction.remove(batch)
            try transaction.recomputeOverlays(at: transformed, over: cached, standing: standing)
            try transaction.rebase(at: other, onto: cached)
            return try transaction.localDocuments(at: paths, cached: cached)
        }
    }

    /// Batches that left the queue without effect, and the documents that look different without them.
    struct Rejection {
        let changes: Documents
        /// What depended on the batch, in order.
        var dependents: [QueuedBatch] = []
    }

    /// Removes a batch and its effect from the queue, and what waits for the name of a document that it would have added.
    ///
    /// - Parameters:
    ///   - refused: The refused batch to keep, if the user has to decide about it.
    ///   - keep: Makes the refused batch to keep of what depends on it.
    func reject(
        _ batch: QueuedBatch, keeping refused: RefusedBatch?, _ keep: (QueuedBatch) -> RefusedBatch
    ) throws(StorageError) -> Rejection {
        try perform(.rejectBatch) { transaction throws(StorageError) in
            let dependents = try transaction.dependents(of: batch)
            let paths = dependents.reduce(batch.paths) { $0.union($1.paths) }
            let cached = try transaction.cachedDocuments(at: paths)
            for batch in [batch] + dependents { try transaction.remove(batch) }
            try transaction.recomputeOverlays(at: paths, over: cached)
            let (rows, owner) = (transaction.rows, transaction.owner)
            if let refused { try rows.putRefused(refused, of: owner) }
            for dependent in dependents { try rows.putRefused(keep(dependent), of: owner) }
            return Rejection(
                changes: try transaction.localDocuments(at: paths, cached: cached), dependents: dependents)
        }
    }

    /// A batch that is about to be sent.
    struct PreparedBatch {
        let batch: QueuedBatch
        /// Whether it has certainly never been sent.
        let isFirstAttempt: Bool
    }

    /// Stores the tags on which batches are based, before they are first sent.
    func prepare(_ batches: [QueuedBatch]) throws(StorageError) -> [PreparedBatch] {
        try perform(.prepareBatches) { transaction throws(StorageError) in
            let (rows, owner) = (transaction.rows, transaction.owner)
            var prepared: [PreparedBatch] = []
            for number in batches.lazy.map(\.number) {
                guard var batch = try rows.batch(number, of: owner) else { continue }
                let isFirstAttempt = batch.bases?.isEmpty == true
                if batch.bases?.isEmpty ?? true {
                    let cached = try transaction.cachedDocuments(at: batch.paths)
                    batch.bases = batch.writes.map { cached[$0.path]?.tag }
                    try rows.putBatch(batch, of: owner)
                }
                prepared.append(PreparedBatch(batch: batch, isFirstAttempt: isFirstAttempt))
            }
            return prepared
        }
    }

    /// Records a failed attempt to send a batch.
    ///
    /// - Returns: The updated batch, if it is in the queue.
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

    /// Removes a rejected batch, and adds other writes to the queue in its place: both or neither. A salvaged batch that is
    /// queued again unchanged keeps its name, since it may have been sent under that.
    ///
    /// - Returns: The new batch and its effect, if there are writes.
    /// - Throws: `.notFound` if there is no such batch.
    func resolveRefused(
        _ id: String, requeuing writes: [DocumentWrite]?, as name: String, at time: Timestamp
    ) throws(StorageError) -> (QueuedBatch, Documents)? {
        try perform(.resolveRefused) { transaction throws(StorageError) in
            let all = try transaction.rows.refusedBatches(of: transaction.owner)
            guard let batch = all.first(where: { $0.id == id }) else {
                throw StorageError(.notFound, "There is no rejected write with that ID.")
            }
            try transaction.rows.removeRefused(id, of: transaction.owner)
            guard let writes else { return nil }
            let isSame = batch.isSalvaged && batch.writes == writes
            return try transaction.queue(writes, as: isSame ? id : name, at: time, mayHaveBeenSent: isSame)
        }
    }
}

extension LocalTransaction {
    /// Adds a batch to the queue and applies its effect.
    fileprivate func queue(
        _ writes: [DocumentWrite], as name: String, at time: Timestamp, mayHaveBeenSent: Bool = false
    ) throws(StorageError) -> (QueuedBatch, LocalStore.Documents) {
        let writes = try named(writes)
        let expectation = try expectation(of: writes)
        let paths = Set(writes.map(\.path))
        let cached = try cachedDocuments(at: paths)
        var entries: [StoragePath: WrittenDocument] = [:]
        for path in paths {
            entries[path] = WrittenDocument(
                LocalDocument(path, cached[path]), under: try rows.overlay(of: owner, at: path))
        }

        globals.highestBatchNumber += 1
        let batch = QueuedBatch(
            number: globals.highestBatchNumber, id: name, writes: writes,
            baseWrites: writes.compactMap { $0.baseWrite(over: entries[$0.path]!.document) }, queuedAt: time,
            bases: usesTags && !mayHaveBeenSent ? [] : nil, provisional: expectation.documents,
            isAddition: expectation.isAddition)
        try rows.putBatch(batch, of: owner)

        batch.apply(to: &entries)
        var changes: LocalStore.Documents = [:]
        for (path, var entry) in entries {
            // A document created only by local writes exists as a whole or not at all.
            if cached[path] == nil { entry.mask = .whole }
            if let overlay = entry.overlay { try rows.putOverlay(overlay, of: owner) }
            entry.document.settle()
            changes[path] = entry.document.snapshot
        }
        return (batch, changes)
    }

    /// Applies the remaining batches to documents that are not what was sent: their increments begin with the new values.
    func rebase(
        at paths: Set<StoragePath>, onto cached: [StoragePath: CachedDocument]
    ) throws(StorageError) {
        guard !paths.isEmpty else { return }
        var entries: [StoragePath: WrittenDocument] = [:]
        for path in paths { entries[path] = WrittenDocument(LocalDocument(path, cached[path])) }
        for batch in try rows.batches(of: owner, touching: paths) {
            var rebased = batch
            rebased.baseWrites = batch.baseWrites.filter { !paths.contains($0.path) }
            rebased.baseWrites += batch.writes.compactMap { write in
                entries[write.path].flatMap { write.baseWrite(over: $0.document) }
            }
            if rebased.baseWrites != batch.baseWrites { try rows.putBatch(rebased, of: owner) }
            rebased.apply(to: &entries)
        }
        try putOverlays(of: entries)
    }

    /// Takes a batch out of the queue. Its documents may have to be recomputed.
    func remove(_ batch: QueuedBatch) throws(StorageError) {
        try rows.removeBatch(batch, of: owner)
        for path in batch.paths {
            try noteUse(of: path)
            try rows.removeOverlay(of: owner, at: path, ofBatch: batch.number)
        }
    }
}

extension DocumentWrite {
    /// The base value of an increment: the local view keeps it even if the server's value, which may already include the
    /// increment, arrives before the acknowledgement.
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

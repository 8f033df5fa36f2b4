import Switchyard

extension LocalStore {
    /// A document that has got its name, and what is different since.
    struct NamedDocument {
        let name: NewName
        let changes: Documents
        /// The queued batches that write to it, lie below it or refer to it, as they are now.
        let batches: [QueuedBatch]
    }

    /// The server added a document: under its name there, it takes the place of the one that stood for it, everywhere.
    ///
    /// The local name stays known, so that it can be used further on.
    func acknowledge(
        addition batch: QueuedBatch, _ result: CommitResult, under name: NewName
    ) throws(StorageError) -> NamedDocument {
        try perform(.acknowledgeBatch) { transaction throws(StorageError) in
            let (rows, owner) = (transaction.rows, transaction.owner)
            let old = try rows.document(at: name.new)
            let version = result.version(ofWrite: 0)
            if old?.version ?? .never < version {
                let document = batch.renamed(name).committed(
                    over: old, at: name.new, [0], version: version, result: result)
                try transaction.put(document, replacing: old)
            }
            try transaction.remove(batch)
            try rows.putName(name.new, of: name.old, for: owner)
            let (batches, paths) = try transaction.rename(name)
            let cached = try transaction.cachedDocuments(at: paths)
            // Increments begin with what came back.
            try transaction.rebase(at: [name.new], onto: cached)
            try transaction.recomputeOverlays(at: paths.subtracting([name.new]), over: cached)
            return NamedDocument(
                name: name, changes: try transaction.localDocuments(at: paths, cached: cached), batches: batches)
        }
    }

    /// The current names of documents.
    func names(of paths: [StoragePath]) throws(StorageError) -> [StoragePath: StoragePath] {
        guard provisional != nil else { return [:] }
        return try perform(.readDocuments) { transaction throws(StorageError) in try transaction.names(of: paths) }
    }

    /// A query that says the current names of documents.
    func named(_ query: LiveQuery) throws(StorageError) -> LiveQuery {
        guard provisional != nil else { return query }
        return try perform(.readDocuments) { transaction throws(StorageError) in try transaction.named(query) }
    }

    func named(_ writes: [DocumentWrite]) throws(StorageError) -> [DocumentWrite] {
        guard provisional != nil else { return writes }
        return try perform(.readDocuments) { transaction throws(StorageError) in try transaction.named(writes) }
    }

    /// See ``SyncMachine/prepareAddition(_:)``.
    func prepareAddition(
        _ writes: [DocumentWrite]
    ) throws(StorageError) -> (writes: [DocumentWrite], awaited: Set<StoragePath>) {
        try perform(.readDocuments) { transaction throws(StorageError) in
            let named = try transaction.named(writes)
            return (named, try transaction.expectation(of: named).documents)
        }
    }
}

extension LocalTransaction {
    /// Gives a document its name in the rest of the queue.
    ///
    /// - Returns: The batches that are different now, and the documents of these, under both names.
    fileprivate func rename(_ name: NewName) throws(StorageError) -> (batches: [QueuedBatch], paths: Set<StoragePath>) {
        var paths: Set<StoragePath> = [name.old, name.new]
        var batches: [QueuedBatch] = []
        for batch in try rows.batches(of: owner, touching: [name.old]) {
            let renamed = batch.renamed(name)
            try remove(batch)
            try rows.putBatch(renamed, of: owner)
            batches.append(renamed)
            paths.formUnion(batch.paths)
            paths.formUnion(renamed.paths)
        }
        for path in paths {
            try rows.removeOverlay(of: owner, at: path)
            guard name(path) != path else {
                try noteUse(of: path)
                continue
            }
            pins.move(path, to: name(path))
            // A listener may have learned that there is none.
            try rows.removeDocument(at: path)
        }
        return (batches, paths)
    }

    /// The batches that cannot be sent without another one, in order: what mentions a document that it adds, and what mentions
    /// those that these add.
    func dependents(of batch: QueuedBatch) throws(StorageError) -> [QueuedBatch] {
        guard let addition = batch.addition else { return [] }
        var missing: Set<StoragePath> = [addition]
        var found: [Int: QueuedBatch] = [:]
        var isComplete = false
        while !isComplete {
            isComplete = true
            for dependent in try rows.batches(of: owner, touching: missing)
            where dependent.number != batch.number && found[dependent.number] == nil {
                found[dependent.number] = dependent
                if let addition = dependent.addition, missing.insert(addition).inserted { isComplete = false }
            }
        }
        return found.values.sorted { $0.number < $1.number }
    }
}

import Switchyard

/// The local state (cache, queue and targets) and its rules.
///
/// Each operation is one transaction of the underlying store; if that fails, nothing has changed here either.
final class LocalStore {
    typealias Documents = [StoragePath: DocumentSnapshot]

    let store: any SyncStore
    let policy: CachePolicy
    /// See ``SyncDriverTraits/hidesDocuments``.
    private let hidesDocuments: Bool
    /// See ``SyncDriverTraits/usesTags``.
    private let usesTags: Bool
    /// `nil` for a driver that makes no names.
    let provisional: ProvisionalNames?
    private(set) var owner: QueueOwner
    private(set) var globals = StoreGlobals()
    /// The targets in use, with the newest tokens; the stored ones may be older.
    private(set) var active: [Int: TargetRecord] = [:]
    /// Documents that open views show.
    private let pins = PinnedDocuments()

    init(
        store: any SyncStore, policy: CachePolicy, owner: QueueOwner, hidesDocuments: Bool = false,
        usesTags: Bool = false, provisional: ProvisionalNames? = nil
    ) {
        self.provisional = provisional
        self.hidesDocuments = hidesDocuments
        self.usesTags = usesTags
        self.store = store
        self.policy = policy
        self.owner = owner
    }

    /// Reads the counters, and prepares the user's overlays.
    func open() throws(StorageError) {
        globals = try store.transaction(.open) { rows throws(StorageError) in
            let transaction = LocalTransaction(
                rows: rows, owner: owner, globals: try rows.globals, active: active, pins: pins, policy: policy,
                hidesDocuments: hidesDocuments, usesTags: usesTags, provisional: provisional)
            try transaction.takeOver()
            try transaction.finish()
            return transaction.globals
        }
    }

    func perform<Result>(
        _ operation: StoreOperation, _ body: (LocalTransaction) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        do throws(StorageError) {
            let (result, transaction) = try store.transaction(operation) {
                rows throws(StorageError) -> (Result, LocalTransaction) in
                let transaction = LocalTransaction(
                    rows: rows, owner: owner, globals: globals, active: active, pins: pins, policy: policy,
                    hidesDocuments: hidesDocuments, usesTags: usesTags, provisional: provisional)
                let result = try body(transaction)
                try transaction.finish()
                return (result, transaction)
            }
            globals = transaction.globals
            active = transaction.active
            pins.commit()
            return result
        } catch {
            pins.rollBack()
            throw error
        }
    }

    /// Drops a target from memory only.
    func forget(_ target: Int) {
        active[target] = nil
        _ = pins.removeAll(by: target)
        pins.commit()
    }

    /// Whether the store works again.
    func probe() throws(StorageError) {
        try perform(.lastSnapshotVersion) { transaction throws(StorageError) in _ = try transaction.rows.globals }
    }

    /// Switches to another user's queue.
    ///
    /// - Returns: Every document that looks different now.
    func changeOwner(to new: QueueOwner) throws(StorageError) -> Documents {
        let old = owner
        owner = new
        do throws(StorageError) {
            return try perform(.changeUser) { transaction throws(StorageError) in
                try transaction.takeOver()
                var paths = Set<StoragePath>()
                for owner in [old, new] {
                    for batch in try transaction.rows.batches(of: owner, after: 0, limit: .max) {
                        paths.formUnion(batch.paths)
                    }
                }
                return try transaction.localDocuments(at: paths)
            }
        } catch {
            owner = old
            throw error
        }
    }

    /// The document with all pending writes applied; `nil` if nothing is known about it.
    func document(at path: StoragePath) throws(StorageError) -> DocumentSnapshot? {
        try perform(.readDocuments) { transaction throws(StorageError) in
            let path = try transaction.named(path)
            let cached = try transaction.rows.document(at: path)
            let overlay = try transaction.rows.overlay(of: transaction.owner, at: path)
            guard overlay != nil || (cached != nil && cached?.state != .unknown) else { return nil }
            return try transaction.localDocuments(at: [path])[path]
        }
    }

    /// The documents with all pending writes applied; missing, if nothing is known about them.
    func documents(at paths: [StoragePath]) throws(StorageError) -> Documents {
        try perform(.readDocuments) { transaction throws(StorageError) in try transaction.localDocuments(at: paths) }
    }

    /// The tags of those documents whose cached contents are the server's.
    func knownTags(at paths: Set<StoragePath>) throws(StorageError) -> [StoragePath: DocumentTag] {
        try perform(.readDocuments) { transaction throws(StorageError) in try transaction.rows.knownTags(at: paths) }
    }

    /// The version of a document known to exist, ignoring local writes; `nil` for any other.
    func foundVersion(of path: StoragePath) throws(StorageError) -> Timestamp? {
        try perform(.readDocuments) { transaction throws(StorageError) in
            try transaction.rows.document(at: path).flatMap { $0.state == .found ? $0.version : nil }
        }
    }

    /// Records the documents that entered or left a view, and that its result was confirmed by the server.
    func noteView(
        of target: Int, added: [StoragePath], removed: [StoragePath], isSynced: Bool
    ) throws(StorageError) {
        try perform(.notifyViews) { transaction throws(StorageError) in
            transaction.pins.add(added, by: target)
            for path in removed {
                transaction.pins.remove(path, by: target)
                try transaction.noteUse(of: path)
            }
            if isSynced, var record = transaction.active[target], record.lastLimboFreeVersion != record.version {
                let isFirst = record.lastLimboFreeVersion == .never
                record.lastLimboFreeVersion = record.version
                transaction.active[target] = record
                if isFirst { try transaction.rows.putTarget(record) }
            }
        }
    }
}

extension LocalTransaction {
    /// Makes the user's overlays fit the cache, which may have changed while another user's queue was in use, or been deleted.
    func takeOver() throws(StorageError) {
        globals.lastUserID = owner.userID ?? globals.lastUserID
        guard globals.overlayOwner != owner else { return }
        globals.overlayOwner = owner
        let batches = try rows.batches(of: owner, after: 0, limit: .max)
        let paths = batches.reduce(into: Set<StoragePath>()) { $0.formUnion($1.paths) }
        try recomputeOverlays(at: paths, over: cachedDocuments(at: paths))
    }

    func cachedDocuments(
        at paths: some Collection<StoragePath>
    ) throws(StorageError) -> [StoragePath: CachedDocument] {
        var cached: [StoragePath: CachedDocument] = [:]
        for case let document? in try rows.documents(at: Array(paths)) { cached[document.path] = document }
        return cached
    }

    /// Documents as the user sees them.
    func localDocuments(at paths: some Collection<StoragePath>) throws(StorageError) -> LocalStore.Documents {
        try localDocuments(at: paths, cached: cachedDocuments(at: paths))
    }

    /// The same, with the cached documents at `paths`.
    ///
    /// - Parameter existenceChanged: Documents that appeared or disappeared on the server; a patch on them now has a
    ///   different effect.
    func localDocuments(
        at paths: some Collection<StoragePath>, cached: [StoragePath: CachedDocument],
        existenceChanged: Set<StoragePath> = []
    ) throws(StorageError) -> LocalStore.Documents {
        var result: LocalStore.Documents = [:]
        result.reserveCapacity(paths.count)
        guard try rows.highestBatchNumber(of: owner) != nil else {
            // The queue is empty, so the cache applies as it is.
            for path in paths { result[path] = cached[path]?.snapshot ?? LocalDocument(path, nil).snapshot }
            return result
        }
        var recomputed = Set<StoragePath>()
        for path in paths {
            let overlay = try rows.overlay(of: owner, at: path)
            if existenceChanged.contains(path), overlay?.isPatch ?? true {
                recomputed.insert(path)
                continue
            }
            var document = LocalDocument(path, cached[path])
            if let overlay { document.apply(overlay) }
            result[path] = document.snapshot
        }
        for document in try recomputeOverlays(at: recomputed, over: cached) {
            result[document.path] = document.snapshot
        }
        return result
    }

    /// Recomputes the overlays of documents from the batches that write to them.
    ///
    /// - Parameter standing: Documents that have existed since their overlays were computed.
    @discardableResult
    func recomputeOverlays(
        at paths: Set<StoragePath>, over cached: [StoragePath: CachedDocument], standing: Set<StoragePath> = []
    ) throws(StorageError) -> [LocalDocument] {
        guard !paths.isEmpty else { return [] }
        var entries: [StoragePath: WrittenDocument] = [:]
        var rest = paths
        for path in paths.intersection(standing) {
            guard let batches = try decidingBatches(at: path) else { continue }
            var entry = [path: WrittenDocument(LocalDocument(path, cached[path]))]
            for batch in batches { batch.apply(to: &entry) }
            entries[path] = entry[path]
            rest.remove(path)
        }
        var others: [StoragePath: WrittenDocument] = [:]
        for path in rest { others[path] = WrittenDocument(LocalDocument(path, cached[path])) }
        if !rest.isEmpty {
            for batch in try rows.batches(of: owner, touching: rest) { batch.apply(to: &others) }
        }
        try putOverlays(of: entries.merging(others, uniquingKeysWith: { $1 }))
        return (Array(entries.values) + others.values).map(\.document)
    }

    func putOverlays(of entries: [StoragePath: WrittenDocument]) throws(StorageError) {
        for (path, entry) in entries {
            if let overlay = entry.overlay {
                try rows.putOverlay(overlay, of: owner)
            } else {
                try rows.removeOverlay(of: owner, at: path)
            }
        }
    }

    /// The batches needed to compute the overlay of an existing document: the last ones, from the first that makes earlier
    /// ones irrelevant; `nil` if the overlay is more than some fields. With a long queue of increments that is one batch, not
    /// all.
    func decidingBatches(at path: StoragePath) throws(StorageError) -> [QueuedBatch]? {
        guard case .fields(var open)? = try rows.overlay(of: owner, at: path)?.mask else { return nil }
        var found: [QueuedBatch] = []
        var limit = 4
        while true {
            let more = try rows.lastBatches(
                of: owner, touching: path, below: found.last?.number ?? .max, limit: limit)
            for batch in more {
                found.append(batch)
                open.subtract(batch.fieldsDecided(at: path))
                if open.isEmpty { return found.reversed() }
            }
            if more.count < limit { return found.reversed() }
            limit *= 2
        }
    }
}

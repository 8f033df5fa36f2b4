import Switchyard

extension LocalStore {
    /// The stored token of a target may be this much older than the newest one.
    private static let tokenLag: Int64 = 5 * 60

    /// Applies a change that the server sent.
    ///
    /// - Returns: Every document that may look different now.
    func apply(_ event: RemoteEvent) throws(StorageError) -> Documents {
        try perform(.applyRemoteEvent) { transaction throws(StorageError) in
            for (id, change) in event.targetChanges {
                guard var record = transaction.active[id] else { continue }
                try transaction.confirm(change.added, change.removed, of: id)
                let old = record
                record.sequenceNumber = transaction.sequenceNumber
                let isMismatch = event.mismatches[id] != nil
                if isMismatch {
                    record.resumeToken = []
                    record.version = .never
                    record.lastLimboFreeVersion = .never
                } else if !change.resumeToken.isEmpty {
                    record.resumeToken = change.resumeToken
                    record.version = event.version
                }
                if change.results != nil {
                    record.isDecided = true
                    // Without a token, too: what is acknowledged later is not among the results.
                    if !isMismatch { record.version = event.version }
                }
                transaction.active[id] = record
                let hasChanged = !(change.added.isEmpty && change.modified.isEmpty && change.removed.isEmpty)
                if old.resumeToken.isEmpty || isMismatch || hasChanged
                    || record.version.seconds - old.version.seconds >= LocalStore.tokenLag
                {
                    try transaction.rows.putTarget(record)
                }
            }
            let holding = event.targetChanges.filter { transaction.active[$0.key] != nil }.values
            // What a target gained or kept is among the documents, so one that has as many has all of them.
            let hasAll = holding.contains {
                $0.results == nil && $0.added.count + $0.modified.count == event.documents.count
            }
            for path in event.documents.lazy.map(\.path)
            where !hasAll && !holding.contains(where: { $0.added.contains(path) || $0.modified.contains(path) }) {
                // It was looked up because it was in limbo, or it is deleted.
                try transaction.noteUse(of: path)
            }
            let changes = try transaction.accept(event.documents)
            if event.version != .never { transaction.globals.lastSnapshotVersion = event.version }
            transaction.noteVersion(event.version)
            return changes
        }
    }

    /// Stores the result of a one-time read.
    ///
    /// - Parameter isWatched: Whether a view may show an unreferenced document.
    /// - Returns: The documents that look different locally than in the answer, with pending writes applied; if a view may show
    ///   them, also those that are new.
    func apply(_ fetched: FetchedDocuments, isWatched: Bool) throws(StorageError) -> Documents {
        return try perform(.applyRemoteEvent) { transaction throws(StorageError) in
            let places =
                transaction.rows.areInKeyOrder
                ? fetched.documents.map(\.path).placesInKeyOrder : Array(fetched.documents.indices)
            var changes: Documents = [:]
            // Piece by piece, so that a large answer is not held several times.
            for start in stride(from: 0, to: places.count, by: 512) {
                let piece = places[start..<min(start + 512, places.count)]
                var stored = piece
                if !isWatched, transaction.isEager {
                    stored = []
                    for place in piece where try transaction.keeps(fetched.documents[place].path) {
                        stored.append(place)
                    }
                }
                let local = try transaction.acceptRead(stored, of: fetched)
                for place in piece where !local.isEmpty {
                    let snapshot = fetched.documents[place]
                    if let local = local[snapshot.path], isWatched || local != snapshot { changes[local.path] = local }
                }
            }
            return changes
        }
    }

    /// The documents of a one-time read with pending writes applied, without storing anything.
    func shown(_ fetched: FetchedDocuments) throws(StorageError) -> Documents {
        try perform(.readDocuments) { transaction throws(StorageError) in
            let rows = transaction.rows
            let paths = fetched.documents.map(\.path)
            var entries: [StoragePath: WrittenDocument] = [:]
            for (snapshot, known) in zip(fetched.documents, try rows.documents(at: paths)) {
                var document = CachedDocument(
                    snapshot, missingSince: fetched.missingTime(of: snapshot.path), readTime: fetched.readTime)
                if let known, known.version > document.version { document = known }
                entries[snapshot.path] = WrittenDocument(LocalDocument(snapshot.path, document))
            }
            for batch in try rows.batches(of: transaction.owner, touching: Set(paths)) { batch.apply(to: &entries) }
            return entries.mapValues(\.document.snapshot)
        }
    }

    /// Stores a bundle, unless it or a newer one with its name was stored before.
    func apply(_ bundle: DocumentBundle) throws(StorageError) -> Documents? {
        try perform(.applyBundle) { transaction throws(StorageError) in
            let rows = transaction.rows
            if let known = try rows.bundle(bundle.id), known.createTime >= bundle.createTime {
                // The collector may have removed what it contained.
                let isHere = try rows.target(.bundle(bundle.id)) != nil
                if isHere || known.createTime > bundle.createTime { return nil }
            }
            let umbrella = try transaction.allocate(.bundle(bundle.id), isListening: false)
            var documents: [StoragePath: CachedDocument] = [:]
            for document in bundle.documents {
                documents[document.snapshot.path] = CachedDocument(
                    document.snapshot, missingSince: document.readTime, readTime: document.readTime)
            }
            let changes = try transaction.accept(Array(documents.values))
            try transaction.replaceConfirmed(
                with: Set(documents.values.filter { $0.state == .found }.map(\.path)), of: umbrella.id)

            for named in bundle.namedQueries {
                var record = try transaction.allocate(LiveQuery.query(named.query).target, isListening: false)
                try rows.putNamedQuery(
                    NamedQueryRecord(name: named.name, query: named.query, readTime: named.readTime))
                guard record.version < named.readTime else { continue }
                record.resumeToken = []
                record.version = named.readTime
                if transaction.active[record.id] != nil { transaction.active[record.id] = record }
                try rows.putTarget(record)
                let results = bundle.documents.filter { $0.queries.contains { $0.utf8Equals(named.name) } }
                try transaction.replaceConfirmed(with: Set(results.map(\.snapshot.path)), of: record.id)
            }
            try rows.putBundle(
                BundleRecord(id: bundle.id, version: bundle.version, createTime: bundle.createTime))
            return changes
        }
    }

    func namedQuery(_ name: String) throws(StorageError) -> NamedQueryRecord? {
        try perform(.readTarget) { transaction throws(StorageError) in try transaction.rows.namedQuery(name) }
    }
}

extension LocalTransaction {
    /// Stores the server's documents that are new to the cache.
    fileprivate func accept(_ documents: [CachedDocument]) throws(StorageError) -> LocalStore.Documents {
        // In key order, so that neighbouring rows are written together.
        let documents = documents.inKeyOrder(of: \.path)
        return try accept(documents, over: rows.documents(at: documents.map(\.path)), showsKnown: false)
    }

    /// The same for documents of a read, which are used by that: mostly, they are known.
    ///
    /// - Parameter places: Those of the read that are stored, in the store's order.
    /// - Returns: Also known documents that look different locally.
    fileprivate func acceptRead(
        _ places: ArraySlice<Int>, of fetched: FetchedDocuments
    ) throws(StorageError) -> LocalStore.Documents {
        let paths = places.map { fetched.documents[$0].path }
        guard try rows.highestBatchNumber(of: owner) == nil else {
            try noteUse(of: paths)
            let documents = places.map { CachedDocument(fetched, $0) }.inKeyOrder(of: \.path)
            return try accept(documents, over: rows.documents(at: documents.map(\.path)), showsKnown: true)
        }
        // What is stored as it was read need not be loaded.
        let heads = try headsNotingUse(of: paths)
        var news: [CachedDocument] = []
        for (place, head) in zip(places, heads) {
            if let head, fetched.documents[place].isSettled(by: head, readAt: fetched.readTime) { continue }
            news.append(CachedDocument(fetched, place))
        }
        if news.isEmpty { return [:] }
        news = news.inKeyOrder(of: \.path)
        return try accept(news, over: rows.documents(at: news.map(\.path)), showsKnown: true)
    }

    /// - Parameters:
    ///   - known: What is stored of each.
    ///   - showsKnown: Whether to also return known documents that look different locally.
    private func accept(
        _ documents: [CachedDocument], over known: [CachedDocument?], showsKnown: Bool
    ) throws(StorageError) -> LocalStore.Documents {
        let hasQueue = try rows.highestBatchNumber(of: owner) != nil
        var changed: [StoragePath] = []
        changed.reserveCapacity(documents.count)
        var cached: [StoragePath: CachedDocument] = [:]
        var existenceChanged = Set<StoragePath>()
        // The documents as views show them if nothing is queued.
        var bare: LocalStore.Documents = [:]
        if !hasQueue { bare.reserveCapacity(documents.count) }
        for (document, old) in zip(documents, known) {
            let path = document.path
            // A read may name a document twice.
            if let last = changed.last, last == path { continue }
            let now: CachedDocument?
            if document.state == .missing && document.version == .never {
                // The time of its deletion is unknown, so nothing can be stored about it.
                try rows.removeDocument(at: path)
                now = nil
            } else if old.map({ isNews(document, after: $0) }) ?? true {
                try put(document, replacing: old)
                now = document
            } else if showsKnown, let old, hasQueue || old.version != document.version || old.state != document.state {
                now = old
            } else {
                continue
            }
            changed.append(path)
            guard hasQueue else {
                bare[path] = now?.snapshot ?? LocalDocument(path, nil).snapshot
                continue
            }
            cached[path] = now
            if (document.state == .found) != (old?.state == .found) { existenceChanged.insert(path) }
        }
        guard hasQueue else { return bare }
        return try localDocuments(at: changed, cached: cached, existenceChanged: existenceChanged)
    }

    private func isNews(_ document: CachedDocument, after old: CachedDocument) -> Bool {
        document.isNews(after: old) || (hidesDocuments && document.hasReappeared(after: old))
    }

    fileprivate func replaceConfirmed(with paths: Set<StoragePath>, of target: Int) throws(StorageError) {
        let old = try rows.confirmedKeys(of: target)
        try confirm(paths.subtracting(old), old.subtracting(paths), of: target)
    }
}

extension CachedDocument {
    /// A document from a read or a bundle.
    init(_ snapshot: DocumentSnapshot, missingSince: Timestamp, readTime: Timestamp, tag: DocumentTag? = nil) {
        self.init(
            path: snapshot.path, state: snapshot.exists ? .found : .missing, data: snapshot.data,
            createTime: snapshot.createTime, version: snapshot.exists ? snapshot.updateTime ?? readTime : missingSince,
            readTime: readTime, tag: snapshot.exists ? tag : nil)
    }

    /// A document of a read.
    fileprivate init(_ fetched: FetchedDocuments, _ place: Int) {
        let snapshot = fetched.documents[place]
        self.init(
            snapshot, missingSince: fetched.missingTime(of: snapshot.path), readTime: fetched.readTime,
            tag: fetched.tag(ofDocument: place))
    }

    /// A known version is new only if the stream had not shown an acknowledged write yet.
    fileprivate func isNews(after old: CachedDocument) -> Bool {
        version > old.version || (version == old.version && (old.hasCommittedMutations || old.state == .unknown))
    }

    /// Whether this was hidden when `old` was read. A document deleted by this device returns only with a newer version.
    fileprivate func hasReappeared(after old: CachedDocument) -> Bool {
        state == .found && old.state == .missing && !old.hasCommittedMutations && readTime > old.readTime
    }
}

extension DocumentSnapshot {
    /// Whether what is stored is just this version, so that nothing changes.
    fileprivate func isSettled(by head: CachedDocument.Head, readAt time: Timestamp) -> Bool {
        exists && head.state == .found && head.version == updateTime ?? time && !head.hasCommittedMutations
    }
}

extension WatchTarget {
    /// The target that keeps the documents of a bundle. Its collection has a reserved name, so it cannot be listened to.
    fileprivate static func bundle(_ id: String) -> WatchTarget {
        LiveQuery.query(Query(in: CollectionPath(unchecked: "__bundle__/docs/\(id)"))).target
    }
}

import Switchyard

/// The rows of a ``SQLiteStore``: each requirement is a statement or two.
final class SQLiteRows: StoreRows {
    private struct StoredUsers: Equatable {
        let last: UTF8Key?
        let overlays: QueueOwner?
    }

    var areInKeyOrder: Bool { true }
    let connection: SQLiteConnection
    /// Collections already registered; saves a look-up for every document. Those of an open transaction are added only after
    /// its commit.
    private var knownCollections: Set<CollectionPath> = []
    private var newCollections: Set<CollectionPath> = []
    /// The last collection registered or found: most documents are in the same collection as the previous one.
    private var lastCollection: CollectionPath?
    private(set) var documentBytes: Int64
    private var storedBytes: Int64
    /// The stored values, if known: they rarely change, unlike the counters next to them, which change with every write.
    private var storedUsers: StoredUsers?
    /// The connection's current setting.
    private var commitsDurably = true
    /// Whether deleted rows may still be in free pages or in the log.
    private(set) var hasRemains: Bool

    init(_ connection: SQLiteConnection) throws(StorageError) {
        self.connection = connection
        storedBytes = try connection.number("SELECT value FROM globals WHERE name = 'bytes'") ?? 0
        documentBytes = storedBytes
        hasRemains = try connection.number("SELECT count(*) FROM globals WHERE name = 'remains'") ?? 0 > 0
    }

    // MARK: Transactions

    /// - Parameter isDurable: Whether the commit waits for the disk. One that does not is still atomic, and becomes safe with
    ///   the next one that does.
    func begin(isDurable: Bool) throws(StorageError) {
        if isDurable != commitsDurably {
            try connection.run(isDurable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
            commitsDurably = isDurable
        }
        try connection.statement("BEGIN").run()
    }

    func commit() throws(StorageError) {
        if documentBytes != storedBytes {
            try connection.statement("INSERT OR REPLACE INTO globals (name, value) VALUES ('bytes', ?)")
                .bind(documentBytes).run()
        }
        try connection.statement("COMMIT").run()
        storedBytes = documentBytes
        knownCollections.formUnion(newCollections)
        newCollections.removeAll()
    }

    func rollBack() {
        // Some failures have already rolled back the transaction.
        if connection.isInTransaction { try? connection.statement("ROLLBACK").run() }
        documentBytes = storedBytes
        newCollections.removeAll()
        lastCollection = nil
        storedUsers = nil
    }

    func clear() throws(StorageError) { try empty(SQLiteSchema.tables) }

    func wipe(of owner: QueueOwner) throws(StorageError) {
        try empty(SQLiteSchema.cacheTables) { () throws(StorageError) in
            try removeQueue(of: owner)
            try setGlobals(globals.wiped)
        }
    }

    /// - Parameter body: Additional work in the same transaction.
    private func empty(
        _ tables: [String], _ body: () throws(StorageError) -> Void = {}
    ) throws(StorageError) {
        do throws(StorageError) {
            try begin(isDurable: true)
            for table in tables { try connection.run("DELETE FROM \(table)") }
            documentBytes = 0
            knownCollections.removeAll()
            lastCollection = nil
            storedUsers = nil
            try body()
            try connection.run("INSERT OR REPLACE INTO globals (name, value) VALUES ('remains', 1)")
            try commit()
            hasRemains = true
        } catch {
            rollBack()
            throw error
        }
        do throws(StorageError) { try removeRemains() } catch {
            // The rows are gone, and cleaning up is repeated; only a damaged file cannot be cleaned up.
            if error.isDamage { throw error }
        }
    }

    /// Removes what is left of deleted rows in free pages and in the log.
    func removeRemains() throws(StorageError) {
        guard hasRemains else { return }
        try connection.run("VACUUM")
        let isBusy = try connection.number("PRAGMA wal_checkpoint(TRUNCATE)") ?? 1
        guard isBusy == 0 else { return }
        try connection.run("DELETE FROM globals WHERE name = 'remains'")
        hasRemains = false
    }

    // MARK: Numbers

    var globals: StoreGlobals {
        get throws(StorageError) {
            var globals =
                try connection.statement("SELECT value FROM globals WHERE name = 'engine'")
                .first { row throws(StorageError) in
                    try row.record(0) { reader throws(StorageError) in try reader.globals() }
                } ?? StoreGlobals()
            globals.lastUserID = try connection.statement("SELECT value FROM globals WHERE name = 'user'")
                .first { $0.text(0) }
            globals.overlayOwner = try connection.statement("SELECT value FROM globals WHERE name = 'overlays'")
                .first { QueueOwner(key: $0.text(0)) }
            return globals
        }
    }

    func setGlobals(_ globals: StoreGlobals) throws(StorageError) {
        var record = RecordWriter()
        record.write(globals)
        try connection.statement("INSERT OR REPLACE INTO globals (name, value) VALUES ('engine', ?)")
            .bind(record.bytes).run()
        let users = StoredUsers(last: globals.lastUserID.map { UTF8Key($0) }, overlays: globals.overlayOwner)
        guard users != storedUsers else { return }
        try connection.statement("DELETE FROM globals WHERE name IN ('user', 'overlays')").run()
        if let userID = globals.lastUserID {
            try connection.statement("INSERT INTO globals (name, value) VALUES ('user', ?)").bind(userID).run()
        }
        if let key = globals.overlayOwner?.key {
            try connection.statement("INSERT INTO globals (name, value) VALUES ('overlays', ?)").bind(key).run()
        }
        storedUsers = users
    }

    func noteBytes(_ difference: Int64) { documentBytes += difference }

    // MARK: Collections

    /// Registers the collection, so that queries of its group find it.
    func note(collectionOf path: StoragePath) throws(StorageError) {
        if let lastCollection, path.isDirectly(in: lastCollection) { return }
        try note(path.collection)
    }

    func note(_ collection: CollectionPath) throws(StorageError) {
        defer { lastCollection = collection }
        guard !knownCollections.contains(collection), newCollections.insert(collection).inserted else { return }
        try connection.statement("INSERT OR IGNORE INTO collections (id, path) VALUES (?, ?)")
            .bind(collection.id).bind(collection.rawValue).run()
    }

    /// Whether anything was ever stored in the collection.
    func isFiled(_ collection: CollectionPath) throws(StorageError) -> Bool {
        if knownCollections.contains(collection) || newCollections.contains(collection) { return true }
        let found = try connection.statement("SELECT 1 FROM collections WHERE id = ? AND path = ?")
            .bind(collection.id).bind(collection.rawValue).first { _ in true }
        guard found != nil else { return false }
        knownCollections.insert(collection)
        return true
    }

    func collections(in source: Query.Source) throws(StorageError) -> [CollectionPath] {
        switch source {
        case .collection(let path): return [path]
        case .group(let id, let ancestor):
            var result: [CollectionPath] = []
            try connection.statement("SELECT path FROM collections WHERE id = ?").bind(id).rows { row in
                let path = CollectionPath(unchecked: row.text(0))
                if path.isInGroup(id, under: ancestor) { result.append(path) }
            }
            return result
        }
    }

    // MARK: Bundles

    func bundle(_ id: String) throws(StorageError) -> BundleRecord? {
        try connection.statement("SELECT record FROM bundles WHERE id = ?").bind(id).first { row throws(StorageError) in
            try row.record(0) { reader throws(StorageError) in try reader.bundleRecord(id: id) }
        }
    }

    func putBundle(_ bundle: BundleRecord) throws(StorageError) {
        var record = RecordWriter()
        record.write(bundle)
        try connection.statement("INSERT OR REPLACE INTO bundles (id, record) VALUES (?, ?)")
            .bind(bundle.id).bind(record.bytes).run()
    }

    func namedQuery(_ name: String) throws(StorageError) -> NamedQueryRecord? {
        try connection.statement("SELECT record FROM named_queries WHERE name = ?").bind(name)
            .first { row throws(StorageError) in
                try row.record(0) { reader throws(StorageError) in try reader.namedQueryRecord(name: name) }
            }
    }

    func putNamedQuery(_ query: NamedQueryRecord) throws(StorageError) {
        var record = RecordWriter()
        record.write(query)
        try connection.statement("INSERT OR REPLACE INTO named_queries (name, record) VALUES (?, ?)")
            .bind(query.name).bind(record.bytes).run()
    }
}

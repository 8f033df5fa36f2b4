package import Foundation
package import Switchyard
import SwitchyardBytes

/// A store in a file: each transaction is completely on disk when it returns.
///
/// Belongs to one process and one object at a time. A file that cannot be used, because it is damaged or from a later version
/// of this software, is renamed and kept, and reported in ``setAside``; the store then begins empty.
package final class SQLiteStore: SyncStore {
    /// An existing database that could not be used.
    package struct SetAside: Sendable, Equatable {
        package enum Reason: String, Sendable {
            case damaged, newer
            /// A database of something else.
            case foreign
        }
        package let reason: Reason
        /// Its new location, next to SQLite's other files, which have the same name and a suffix.
        package let location: URL
        /// How many batches were read from the queues in it; they are now among the rejected ones.
        package var salvagedBatches = 0
        /// Whether those are all.
        package var isSalvageComplete = false
    }

    /// The database that was set aside when opening, if any.
    package private(set) var setAside: SetAside?

    private let files: SQLiteStoreFiles
    private let schema: SQLiteSchema
    private let claim: StoreClaim
    private(set) var rows: SQLiteRows?

    /// Opens or creates the store in `folder`.
    ///
    /// - Throws: `.localStore` if another process has it open, if the folder cannot be written to, or if this machine has no
    ///   SQLite.
    package convenience init(folder: URL) throws(StorageError) {
        try self.init(StoreClaim(folder), schema: .current)
    }

    convenience init(folder: URL, schema: SQLiteSchema) throws(StorageError) {
        try self.init(StoreClaim(folder), schema: schema)
    }

    /// - Parameter claim: Released with the store. If opening fails, the caller keeps it for another attempt.
    init(_ claim: StoreClaim, schema: SQLiteSchema = .current) throws(StorageError) {
        files = SQLiteStoreFiles(folder: claim.folder)
        self.schema = schema
        self.claim = claim
        rows = try open()
        cleanUp()
    }

    deinit { close() }

    private func open() throws(StorageError) -> SQLiteRows {
        if files.isMarkedDamaged { return try startOver(.damaged) }
        do throws(StorageError) {
            files.closeToOthers()
            let connection = try SQLiteStore.connect(files.database)
            switch try schema.prepare(connection) {
            case .ready: return try SQLiteRows(connection)
            case .newer: return try startOver(.newer, closing: connection)
            case .foreign: return try startOver(.foreign, closing: connection)
            }
        } catch {
            guard error.isDamage else { throw error }
            return try startOver(.damaged)
        }
    }

    /// - Parameter isKept: Whether to keep what can be read of a user's queue.
    private func startOver(
        _ reason: SetAside.Reason, closing connection: consuming SQLiteConnection? = nil,
        keeping isKept: (QueueOwner) -> Bool = { _ in true }
    ) throws(StorageError) -> SQLiteRows {
        connection = nil  // moving a file that is open would leave its log behind
        var aside = SetAside(reason: reason, location: try files.setAside(as: reason))
        files.closeToOthers()
        let fresh = try SQLiteStore.connect(files.database)
        _ = try schema.prepare(fresh)
        let rows = try SQLiteRows(fresh)
        if reason == .damaged {
            let salvage = SQLiteSalvage(aside.location, where: isKept)
            // If that fails, the file that was set aside still has them.
            if (try? salvage.keep(in: rows)) != nil {
                aside.salvagedBatches = salvage.batches.count
                aside.isSalvageComplete = salvage.isComplete
            }
        }
        setAside = aside
        return rows
    }

    /// On Darwin, a plain sync returns before the data is on the disk: only a full one survives a power failure.
    static func connect(_ file: URL) throws(StorageError) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: file.path)
        // Exclusive: there is no shared-memory file, and a second opener is refused even without our own lock.
        _ = try connection.number("PRAGMA locking_mode = EXCLUSIVE") as Int64?
        _ = try connection.number("PRAGMA journal_mode = WAL") as Int64?
        try connection.run(
            """
            PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
            PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 16777216;
            PRAGMA wal_autocheckpoint = 4000; PRAGMA trusted_schema = OFF
            """)
        return connection
    }

    package func transaction<Result>(
        _ operation: StoreOperation, _ body: (any StoreRows) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        guard let rows else { throw StorageError(.shutDown, "The data on this device has been closed.") }
        do throws(StorageError) {
            try rows.begin(isDurable: operation.isDurable)
            let result = try body(rows)
            try rows.commit()
            if operation == .collectGarbage { cleanUp() }
            return result
        } catch {
            rows.rollBack()
            if error.isDamage { files.markDamaged() }
            throw error
        }
    }

    package func clear() throws(StorageError) {
        try empty(keeping: { _ in false }) { rows throws(StorageError) in try rows.clear() }
    }

    package func wipe(of owner: QueueOwner) throws(StorageError) {
        try empty(keeping: { $0 != owner }) { rows throws(StorageError) in try rows.wipe(of: owner) }
    }

    private func empty(
        keeping isKept: (QueueOwner) -> Bool, _ body: (SQLiteRows) throws(StorageError) -> Void
    ) throws(StorageError) {
        guard rows != nil else { throw StorageError(.shutDown, "The data on this device has been closed.") }
        // First, so that if this fails, nothing has been deleted.
        try removeSetAside()
        do throws(StorageError) { if let rows { try body(rows) } } catch {
            guard error.isDamage else { throw error }
            // The file cannot be read as a whole, and what is not kept must still be deleted.
            rows = nil
            rows = try startOver(.damaged, keeping: isKept)
            try removeSetAside()
        }
    }

    /// Removes what is left of deleted rows if that has failed before. Repeated from time to time until it is done.
    private func cleanUp() {
        do throws(StorageError) { try rows?.removeRemains() } catch {
            if error.isDamage { files.markDamaged() }
        }
    }

    private func removeSetAside() throws(StorageError) {
        try files.removeSetAside()
        setAside = nil
    }

    package func close() {
        guard rows != nil else { return }
        rows = nil
        claim.release()
    }
}

extension StorageError {
    /// Whether the stored contents are damaged.
    var isDamage: Bool {
        (underlying as? SQLiteFailure)?.isDamage ?? (underlying is RecordReader.Damage)
    }
}

/// An exclusive claim on a store's folder, taken before the store is opened and held until it is released.
struct StoreClaim: Sendable {
    let folder: URL
    private let lock: FileLock

    /// - Throws: `.localStore` if another client has the folder, or if it cannot be created or written to.
    init(_ folder: URL) throws(StorageError) {
        self.folder = folder
        lock = try SQLiteStoreFiles(folder: folder).lock()
    }

    /// You may call this twice.
    func release() { lock.release() }
}

import CSwitchyardLibraries
import Switchyard

/// One open database, with its prepared statements. Used from one place at a time.
final class SQLiteConnection {
    private let handle: csqlite_connection
    /// By the address of their text, which is a literal, so a look-up only hashes a number.
    private var statements: [UInt: SQLiteStatement] = [:]

    /// - Throws: `.localStore`, also if this machine has no SQLite: then the message says what to install.
    init(path: String) throws(StorageError) {
        if let problem = csqlite_load() {
            throw StorageError(.localStore, "Data cannot be kept on this device: \(String(cString: problem)).")
        }
        var handle: csqlite_connection?
        let code = csqlite_open(path, &handle)
        guard code == CSQLITE_OK, let handle else { throw SQLiteFailure(code).error }
        self.handle = handle
    }

    deinit {
        statements.removeAll()
        csqlite_close(handle)
    }

    /// Runs statements without parameters and results.
    func run(_ sql: String) throws(StorageError) {
        let code = csqlite_run(handle, sql)
        guard code == CSQLITE_OK else { throw SQLiteFailure(code).error }
    }

    var isInTransaction: Bool { csqlite_is_in_transaction(handle) }

    /// How many rows the last statement changed.
    var changes: Int { Int(csqlite_changes(handle)) }

    /// The statement for `sql`, prepared once and ready to be bound. If its rows are being iterated, the caller gets another
    /// statement.
    func statement(_ sql: StaticString) throws(StorageError) -> SQLiteStatement {
        let key = UInt(bitPattern: sql.utf8Start)
        if let known = statements[key] {
            if !known.isInUse { return known }
            return try SQLiteStatement(handle, sql.description)
        }
        let statement = try SQLiteStatement(handle, sql.description)
        statements[key] = statement
        return statement
    }

    /// The number returned by a pragma or a single-row query.
    func number(_ sql: String) throws(StorageError) -> Int64? {
        let statement = try SQLiteStatement(handle, sql)
        var result: Int64?
        try statement.rows { row in result = row.integer(0) }
        return result
    }
}

/// A SQLite result code other than success.
struct SQLiteFailure: Error, Hashable {
    /// The extended code; its lowest byte is the plain one.
    let code: Int32

    init(_ code: Int32) { self.code = code }

    private var primary: Int32 { code & 0xFF }

    /// Whether the file's contents are damaged, so that retrying is useless.
    var isDamage: Bool { primary == Int32(CSQLITE_CORRUPT) || primary == Int32(CSQLITE_NOTADB) }

    var error: StorageError {
        let message =
            switch primary {
            case Int32(CSQLITE_BUSY):
                "The data kept on this device is in use by another process. End that one, or give each its own folder."
            case Int32(CSQLITE_FULL): "The disk is full; the change was undone. Make room and try again."
            case Int32(CSQLITE_READONLY), Int32(CSQLITE_CANTOPEN):
                "The data kept on this device cannot be written to. Check the owner and permissions of the state folder and of the "
                    + "files in it."
            case Int32(CSQLITE_IOERR):
                "The disk failed while the data kept on this device was read or written. See the system's log."
            case _ where isDamage: "The data kept on this device is damaged."
            default: "The data kept on this device could not be read or written."
            }
        return StorageError(.localStore, "\(message) (SQLite \(code))", underlying: self)
    }
}

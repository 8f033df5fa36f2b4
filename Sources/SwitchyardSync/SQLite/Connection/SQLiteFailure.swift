import CSwitchyardLibraries
import Switchyard

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

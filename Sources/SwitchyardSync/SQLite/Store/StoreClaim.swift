import Foundation
import Switchyard
import SwitchyardBytes

/// A folder for a store, taken before the store is opened: nobody else gets it until it is released.
struct StoreClaim: Sendable {
    let folder: URL
    private let lock: FileLock

    /// - Throws: `.localStore` when somebody else has the folder, and when it cannot be made or written to.
    init(_ folder: URL) throws(StorageError) {
        self.folder = folder
        lock = try SQLiteStoreFiles(folder: folder).lock()
    }

    /// Doing it twice is fine.
    func release() { lock.release() }
}

import Foundation
import Switchyard
import SwitchyardBytes

/// An exclusive claim on a store's folder, taken before the store is opened and held until it is released.
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

import Foundation
import Switchyard
import SwitchyardBytes

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

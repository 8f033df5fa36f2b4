import Foundation
import Switchyard
import Synchronization

/// A folder for a store, taken before the store is opened: nobody else gets it until it is released.
final class StoreClaim: Sendable {
    let folder: URL
    private let descriptor: Mutex<Int32?>

    /// - Throws: `.localStore` when somebody else has the folder, and when it cannot be made or written to.
    init(_ folder: URL) throws(StorageError) {
        self.folder = folder
        descriptor = Mutex(try SQLiteStoreFiles(folder: folder).lock())
    }

    deinit { release() }

    /// Doing it twice is fine.
    func release() {
        let held = descriptor.withLock { descriptor in
            defer { descriptor = nil }
            return descriptor
        }
        if let held { SQLiteStoreFiles(folder: folder).unlock(held) }
    }
}

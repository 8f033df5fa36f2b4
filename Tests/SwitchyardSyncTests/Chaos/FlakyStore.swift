import Switchyard
import SwitchyardSync

/// A store of which chosen operations fail, as those of a full disk do.
final class FlakyStore: SyncStore {
    private let base: any SyncStore
    var failing: Set<StoreOperation> = []

    init(_ base: any SyncStore) { self.base = base }

    func transaction<Result>(
        _ operation: StoreOperation, _ body: (any StoreRows) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        guard failing.contains(operation) else { return try base.transaction(operation, body) }
        // After the work is done, so that there is something to undo.
        return try base.transaction(operation) { rows throws(StorageError) -> Result in
            _ = try body(rows)
            throw StorageError(.localStore, "The store fails on purpose.")
        }
    }

    func clear() throws(StorageError) { try base.clear() }
    func wipe(of owner: QueueOwner) throws(StorageError) { try base.wipe(of: owner) }
    func close() { base.close() }
}

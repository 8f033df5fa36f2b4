import Switchyard
import SwitchyardSync

/// A store of which chosen operations fail, as those of a full disk do.
final class FlakyStore: SyncStore {
    private let base: any SyncStore
    var failing: Set<StoreOperation> = []

    private let isBroken: @Sendable (StoreOperation) -> Bool

    /// - Parameter isBroken: Whether an operation fails as well, said from outside of the engine.
    init(_ base: any SyncStore, isBroken: @escaping @Sendable (StoreOperation) -> Bool = { _ in false }) {
        self.base = base
        self.isBroken = isBroken
    }

    func transaction<Result>(
        _ operation: StoreOperation, _ body: (any StoreRows) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        guard failing.contains(operation) || isBroken(operation) else { return try base.transaction(operation, body) }
        // After the work is done, so that there is something to undo.
        return try base.transaction(operation) { rows throws(StorageError) -> Result in
            _ = try body(rows)
            throw StorageError(.localStore, "The store fails on purpose.")
        }
    }

    /// Whether the next wipe is refused.
    var refusesWipe = false

    func clear() throws(StorageError) { try base.clear() }
    func wipe(of owner: QueueOwner) throws(StorageError) {
        if refusesWipe { throw StorageError(.localStore, "The store fails on purpose.") }
        try base.wipe(of: owner)
    }
    func close() { base.close() }
}

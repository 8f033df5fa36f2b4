import Switchyard
import SwitchyardSync

/// A store of which chosen operations fail.
final class FailingStore: SyncStore {
    let base: any SyncStore
    var failing: Set<StoreOperation> = []

    init(_ base: any SyncStore) { self.base = base }

    func transaction<Result>(
        _ operation: StoreOperation, _ body: (any StoreRows) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        if failing.contains(operation) { throw StorageError(.unavailable, "The store fails on purpose.") }
        return try base.transaction(operation, body)
    }

    func clear() throws(StorageError) { try base.clear() }
    func wipe(of owner: QueueOwner) throws(StorageError) { try base.wipe(of: owner) }
    func close() { base.close() }

    /// By the names that the scenarios use; those of operations that this engine does not have are left out.
    static let operations: [String: [StoreOperation]] = [
        "Allocate target": [.allocateTarget], "Release target": [.releaseTarget], "Execute query": [.runQuery],
        "notifyLocalViewChanges": [.notifyViews],
        "Get last remote snapshot version": [.lastSnapshotVersion, .applyRemoteEvent],
        "updateClientMetadataAndTryBecomePrimary": [], "Lookup mutation documents": [],
        "Handle user change": [.changeUser], "Acknowledge batch": [.acknowledgeBatch, .acknowledgeAmongOthers],
        "Reject batch": [.rejectBatch], "Locally write mutations": [.writeLocally], "Get target data": [.readTarget],
        "Get new document changes": [], "Apply remote event": [.applyRemoteEvent],
    ]
}

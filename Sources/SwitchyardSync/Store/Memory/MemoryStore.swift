package import Switchyard

/// A store that lives as long as its object.
package final class MemoryStore: SyncStore {
    private var rows = MemoryRows()

    package init() {}

    package func transaction<Result>(
        _ operation: StoreOperation, _ body: (any StoreRows) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        do throws(StorageError) {
            let result = try body(rows)
            rows.commit()
            return result
        } catch {
            rows.rollBack()
            throw error
        }
    }

    /// The number of queued batches of all users.
    var batchCount: Int { rows.batchCount }

    package func clear() { rows = MemoryRows() }

    package func wipe(of owner: QueueOwner) { rows = rows.wiped(of: owner) }

    package func close() {}
}

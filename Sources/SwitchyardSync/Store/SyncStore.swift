package import Switchyard

/// The persistent state of an engine, in memory or in a file.
///
/// Synchronous, and used from one place at a time: the engine's. A store only keeps rows; all rules are in the engine, so all
/// stores behave alike.
package protocol SyncStore: AnyObject {
    /// Runs `body` as one transaction. If it throws, or the commit fails, everything is undone. The commit is durable if
    /// ``StoreOperation/isDurable`` says so.
    ///
    /// Never nested.
    func transaction<Result>(
        _ operation: StoreOperation, _ body: (any StoreRows) throws(StorageError) -> Result
    ) throws(StorageError) -> Result

    /// Deletes everything, including databases that were set aside; the store is then like new.
    func clear() throws(StorageError)

    /// Deletes the cache, databases that were set aside, and one user's queued and refused batches. The queues of other users
    /// stay.
    func wipe(of owner: QueueOwner) throws(StorageError)

    /// Releases files and locks. The store is not used again.
    func close()
}

/// The purpose of a transaction, for reports, and for tests to make single operations fail.
package enum StoreOperation: String, Sendable, Hashable, CaseIterable {
    case open, allocateTarget, releaseTarget, runQuery, applyRemoteEvent, applyBundle
    case writeLocally, acknowledgeBatch, acknowledgeAmongOthers, rejectBatch, noteAttempt, prepareBatches, readQueue,
        changeUser
    case resolveRefused, notifyViews, readTarget, readDocuments, lastSnapshotVersion, collectGarbage

    /// Whether its effect must survive a power failure from the moment it is done.
    ///
    /// Changes that the server sends again, or that its ledger shows, may be lost with everything after them; the next
    /// durable operation makes them durable, too. The end of the process alone loses nothing of either kind.
    package var isDurable: Bool {
        switch self {
        case .open, .applyBundle, .writeLocally, .acknowledgeBatch, .rejectBatch, .prepareBatches, .changeUser,
            .resolveRefused:
            true
        case .allocateTarget, .releaseTarget, .runQuery, .applyRemoteEvent, .acknowledgeAmongOthers, .noteAttempt,
            .readQueue, .notifyViews, .readTarget, .readDocuments, .lastSnapshotVersion, .collectGarbage:
            false
        }
    }
}

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

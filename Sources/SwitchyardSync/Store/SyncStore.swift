package import Switchyard

/// Where an engine keeps what must outlive it: memory, or a file.
///
/// Synchronous, and used from one place at a time: the engine's. A store holds rows and gives them back; every rule
/// about them is the engine's, so all stores behave alike.
package protocol SyncStore: AnyObject {
    /// Carries out `body` as one unit. What it throws undoes everything it did; so does a failure to keep it, which is
    /// durable where ``StoreOperation/isDurable`` says so.
    ///
    /// Never nested.
    func transaction<Result>(
        _ operation: StoreOperation, _ body: (any StoreRows) throws(StorageError) -> Result
    ) throws(StorageError) -> Result

    /// Forgets everything, also what was set aside; the store is then as new.
    func clear() throws(StorageError)

    /// Forgets the cache, what was set aside, and what one user has queued and was refused. What others have queued stays.
    func wipe(of owner: QueueOwner) throws(StorageError)

    /// Releases files and locks. The store is not used again.
    func close()
}

/// What a transaction is for: named in reports, and the handle by which tests make single operations fail.
package enum StoreOperation: String, Sendable, Hashable, CaseIterable {
    case open, allocateTarget, releaseTarget, runQuery, applyRemoteEvent, applyBundle
    case writeLocally, acknowledgeBatch, acknowledgeAmongOthers, rejectBatch, noteAttempt, readQueue, changeUser
    case resolveRefused, notifyViews, readTarget, readDocuments, lastSnapshotVersion, collectGarbage

    /// Whether its effect must outlast a failure of power from the moment it is done.
    ///
    /// What the server tells again, or is found out about in its ledger, may be lost with all that came after it: the next
    /// durable operation makes it durable, too. A mere end of the process loses nothing of either kind.
    package var isDurable: Bool {
        switch self {
        case .open, .applyBundle, .writeLocally, .acknowledgeBatch, .rejectBatch, .changeUser, .resolveRefused: true
        case .allocateTarget, .releaseTarget, .runQuery, .applyRemoteEvent, .acknowledgeAmongOthers, .noteAttempt,
            .readQueue, .notifyViews, .readTarget, .readDocuments, .lastSnapshotVersion, .collectGarbage:
            false
        }
    }
}

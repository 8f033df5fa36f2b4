package import Switchyard

/// Where an engine keeps what must outlive it: memory, or a file.
///
/// Synchronous, and used from one place at a time: the engine's. A store holds rows and gives them back; every rule
/// about them is the engine's, so all stores behave alike.
package protocol SyncStore: AnyObject {
    /// Carries out `body` as one unit. What it throws undoes everything it did; so does a failure to make it durable.
    ///
    /// Never nested.
    func transaction<Result>(
        _ operation: StoreOperation, _ body: (any StoreRows) throws(StorageError) -> Result
    ) throws(StorageError) -> Result

    /// Forgets everything; the store is then as new.
    func clear() throws(StorageError)

    /// Releases files and locks. The store is not used again.
    func close()
}

/// What a transaction is for: named in reports, and the handle by which tests make single operations fail.
package enum StoreOperation: String, Sendable, Hashable, CaseIterable {
    case open, allocateTarget, releaseTarget, runQuery, applyRemoteEvent, applyBundle
    case writeLocally, acknowledgeBatch, rejectBatch, noteAttempt, readQueue, changeUser, resolveRefused
    case notifyViews, readTarget, readDocuments, lastSnapshotVersion, collectGarbage
}

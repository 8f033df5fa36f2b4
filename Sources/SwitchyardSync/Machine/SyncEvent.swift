package import Switchyard

/// What happens to a ``SyncMachine``.
package enum SyncEvent: Sendable {
    // The user
    case listen(Int, LiveQuery, ViewOptions)
    case unlisten(Int)
    /// The token comes back in ``SyncAction/writeQueued(_:id:)`` and ``SyncAction/writeFinished(_:_:)``.
    case write(Int, [DocumentWrite], at: Timestamp)
    case waitForPendingWrites(Int)
    case addInSyncListener(Int)
    case removeInSyncListener(Int)
    case load(DocumentBundle)
    case cancelWrite(id: String)
    case retryWrites
    case resolveRefused(id: String, requeuing: [DocumentWrite]?, at: Timestamp)
    case setNetwork(isEnabled: Bool)
    case setUser(QueueOwner)
    /// Documents that a one-time read brought.
    case fetched(FetchedDocuments)
    case collectGarbage(CacheLimits?)

    // The server
    case watchOpened
    case watched(WatchEvent)
    case watchClosed(StorageError?)
    case writerOpened
    case committed(CommitResult)
    case writerClosed(StorageError?, at: Timestamp)

    case timer(SyncTimer)
}

package enum SyncTimer: String, Sendable, Hashable, CaseIterable {
    case onlineState, watchBackoff, watchIdle, writerBackoff, writerIdle, recovery
    /// The stream may have told of a write before its acknowledgement came, and have nothing to tell any more.
    case overdue
}

package struct ViewOptions: Sendable, Hashable {
    package var includesMetadataChanges = true
    /// No first snapshot from the cache while there may be a connection.
    package var waitsForSync = false
    package var readsCacheOnly = false
    /// A snapshot also when nothing but metadata changed, if it is the first that the server has confirmed: the listener
    /// would never learn otherwise that the cache was right.
    package var announcesConfirmation = false
    /// A snapshot also when nothing changed but why it comes from the cache.
    package var announcesTrouble = false

    package init(includesMetadataChanges: Bool = true, waitsForSync: Bool = false, readsCacheOnly: Bool = false) {
        self.includesMetadataChanges = includesMetadataChanges
        self.waitsForSync = waitsForSync
        self.readsCacheOnly = readsCacheOnly
    }
}

/// What a ``SyncMachine`` wants done.
package enum SyncAction: Sendable {
    case snapshot(Int, ViewSnapshot)
    /// The listener is over.
    case listenFailed(Int, StorageError)
    case inSync(Int)

    case writeQueued(Int, id: String)
    case writeFinished(Int, Result<CommitResult, StorageError>)
    case waitFinished(Int, Result<Void, StorageError>)
    case queueChanged(QueueChange)
    case refusedChanged(new: RefusedBatch? = nil)

    case openWatch
    case sendWatch(WatchRequest)
    case closeWatch
    case openWriter
    case sendWrite(OutgoingBatch)
    case closeWriter

    /// Replaces a timer of the same name. Pauses after failures grow with `attempt`; their length is the shell's choice.
    case schedule(SyncTimer, SyncDelay)
    case cancel(SyncTimer)
}

/// What became of the queue of the user at hand.
package enum QueueChange: Sendable {
    /// At the end.
    case added(QueuedBatch)
    /// An attempt to send it failed.
    case tried(QueuedBatch)
    case left(QueuedBatch)
    /// It is another user's from now on.
    case replaced
}

package enum SyncDelay: Sendable, Hashable {
    case seconds(Int)
    /// After this many failures in a row; the longest one when the server is overloaded.
    case backoff(attempt: Int, isOverloaded: Bool)
}

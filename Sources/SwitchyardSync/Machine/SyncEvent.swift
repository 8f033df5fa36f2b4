package import Switchyard

/// An input of a ``SyncMachine``.
package enum SyncEvent: Sendable {
    // The user
    case listen(Int, LiveQuery, ViewOptions)
    case unlisten(Int)
    /// The token comes back in ``SyncAction/writeQueued(_:id:)`` and ``SyncAction/writeFinished(_:_:)``.
    case write(Int, [DocumentWrite], at: Timestamp)
    /// The same for a batch that may be merged with waiting ones.
    case writeMerging(Int, [DocumentWrite], at: Timestamp)
    case waitForPendingWrites(Int)
    case addInSyncListener(Int)
    case removeInSyncListener(Int)
    case load(DocumentBundle)
    case cancelWrite(id: String, at: Timestamp)
    /// The same for a write that may have been sent; only while the network is switched off.
    case dropWrite(id: String, at: Timestamp)
    case retryWrites
    case setNetwork(isEnabled: Bool)
    case setUser(QueueOwner)
    /// Ends all listeners with an error.
    case endListeners(StorageError)
    /// The result of a one-time read.
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
    /// The stream may have delivered a write before its acknowledgement, and have nothing more to deliver.
    case overdue
}

package struct ViewOptions: Sendable, Hashable {
    package var includesMetadataChanges = true
    /// No first snapshot from the cache while there may be a connection.
    package var waitsForSync = false
    package var readsCacheOnly = false
    /// Deliver the first snapshot that the server has confirmed even if only metadata changed: otherwise the listener would
    /// never learn that the cache was right.
    package var announcesConfirmation = false
    /// Deliver a snapshot even if only the reason for using the cache changed.
    package var reportsServerErrors = false

    package init(includesMetadataChanges: Bool = true, waitsForSync: Bool = false, readsCacheOnly: Bool = false) {
        self.includesMetadataChanges = includesMetadataChanges
        self.waitsForSync = waitsForSync
        self.readsCacheOnly = readsCacheOnly
    }
}

/// An output of a ``SyncMachine``.
package enum SyncAction: Sendable {
    case snapshot(Int, ViewSnapshot)
    /// The listener has ended.
    case listenFailed(Int, StorageError)
    case inSync(Int)

    case writeQueued(Int, id: String)
    /// The write was merged into the batch of that name, whose answer is its own.
    case writeSuperseded(Int, by: String)
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

    /// Replaces a timer with the same name. Pauses after failures grow with `attempt`; the engine chooses their length.
    case schedule(SyncTimer, SyncDelay)
    case cancel(SyncTimer)
}

/// A change of the current user's queue.
package enum QueueChange: Sendable {
    /// At the end.
    case added(QueuedBatch)
    /// An attempt to send it failed.
    case tried(QueuedBatch)
    /// A document that it mentions has got its name.
    case renamed(QueuedBatch)
    case left(QueuedBatch)
    /// The queue now belongs to another user.
    case replaced
}

package enum SyncDelay: Sendable, Hashable {
    case seconds(Int)
    /// After this many failures in a row; the longest pause if the server is overloaded.
    case backoff(attempt: Int, isOverloaded: Bool)
}

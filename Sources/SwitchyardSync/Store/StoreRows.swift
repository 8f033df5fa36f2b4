package import Switchyard

/// The rows of a ``SyncStore``, within one transaction.
///
/// Reading sees what the same transaction wrote before. Lists come in no particular order unless stated.
package protocol StoreRows: AnyObject {
    // MARK: The engine's own numbers

    var globals: StoreGlobals { get throws(StorageError) }
    func setGlobals(_ globals: StoreGlobals) throws(StorageError)

    // MARK: Targets

    func target(_ target: WatchTarget) throws(StorageError) -> TargetRecord?
    func targets() throws(StorageError) -> [TargetRecord]
    /// Inserts or replaces, by ``TargetRecord/id``.
    func putTarget(_ record: TargetRecord) throws(StorageError)
    /// With its confirmed keys.
    func removeTarget(_ id: Int) throws(StorageError)

    /// The documents that the server has said belong to a target.
    func confirmedKeys(of target: Int) throws(StorageError) -> Set<StoragePath>
    func addConfirmed(_ paths: some Collection<StoragePath>, to target: Int) throws(StorageError)
    func removeConfirmed(_ paths: some Collection<StoragePath>, from target: Int) throws(StorageError)
    func removeAllConfirmed(from target: Int) throws(StorageError)
    /// Whether any stored target has the document among its confirmed keys.
    func isConfirmed(_ path: StoragePath) throws(StorageError) -> Bool

    // MARK: Documents

    func document(at path: StoragePath) throws(StorageError) -> CachedDocument?
    /// What is stored at each of `paths`, in their order.
    func documents(at paths: [StoragePath]) throws(StorageError) -> [CachedDocument?]
    /// Every stored document, whatever its state, that lies directly in the query's collection or group, optionally only
    /// those whose read time is later than `version`, and only those that `screen` admits.
    func forEachDocument(
        in source: Query.Source, readAfter version: Timestamp?, screen: DocumentScreen?,
        _ body: (CachedDocument) throws(StorageError) -> Void
    ) throws(StorageError)
    /// - Parameter old: What is stored at its path, which the caller knows already.
    func putDocument(_ document: CachedDocument, replacing old: CachedDocument?) throws(StorageError)
    /// With its sequence number.
    func removeDocument(at path: StoragePath) throws(StorageError)
    /// What the documents take up, roughly: the figure that a cache limit is compared with.
    var documentBytes: Int64 { get throws(StorageError) }

    // MARK: Sequence numbers, for collecting what was not used for longest

    /// A number that is not above the one that is there changes nothing.
    func setSequenceNumber(_ number: Int64, of paths: some Collection<StoragePath>) throws(StorageError)
    /// The documents that have a number up to `bound` and are no target's confirmed key, lowest number first.
    func orphans(upTo bound: Int64) throws(StorageError) -> [(path: StoragePath, sequenceNumber: Int64)]

    // MARK: The queue

    /// The batches of a user with a number above `number`, in order, at most `limit`.
    func batches(of owner: QueueOwner, after number: Int, limit: Int) throws(StorageError) -> [QueuedBatch]
    /// The batches that write to any of `paths`, in order.
    func batches(of owner: QueueOwner, touching paths: Set<StoragePath>) throws(StorageError) -> [QueuedBatch]
    /// The last batches that write to `path` and have a number below `number`, at most `limit`; the newest first.
    func lastBatches(
        of owner: QueueOwner, touching path: StoragePath, below number: Int, limit: Int
    ) throws(StorageError) -> [QueuedBatch]
    func batch(_ number: Int, of owner: QueueOwner) throws(StorageError) -> QueuedBatch?
    func highestBatchNumber(of owner: QueueOwner) throws(StorageError) -> Int?
    /// Whether any user's queue writes to the document.
    func hasBatch(touching path: StoragePath) throws(StorageError) -> Bool
    /// Inserts or replaces, by ``QueuedBatch/number``.
    func putBatch(_ batch: QueuedBatch, of owner: QueueOwner) throws(StorageError)
    /// By its number. Nothing else of a stored batch ever changes but its attempts, so any state of it will do.
    func removeBatch(_ batch: QueuedBatch, of owner: QueueOwner) throws(StorageError)

    // MARK: Overlays

    func overlay(of owner: QueueOwner, at path: StoragePath) throws(StorageError) -> Overlay?
    /// Those that lie directly in the query's collection or group, optionally only with a batch number above `number`.
    func overlays(
        of owner: QueueOwner, in source: Query.Source, afterBatch number: Int?
    ) throws(StorageError) -> [Overlay]
    func putOverlay(_ overlay: Overlay, of owner: QueueOwner) throws(StorageError)
    func removeOverlay(of owner: QueueOwner, at path: StoragePath) throws(StorageError)
    /// Only if the newest batch that took part in it is `number`.
    func removeOverlay(of owner: QueueOwner, at path: StoragePath, ofBatch number: Int) throws(StorageError)

    // MARK: Refused batches, oldest first

    func refusedBatches(of owner: QueueOwner) throws(StorageError) -> [RefusedBatch]
    func putRefused(_ batch: RefusedBatch, of owner: QueueOwner) throws(StorageError)
    func removeRefused(_ id: String, of owner: QueueOwner) throws(StorageError)

    // MARK: Bundles

    func bundle(_ id: String) throws(StorageError) -> BundleRecord?
    func putBundle(_ record: BundleRecord) throws(StorageError)
    func namedQuery(_ name: String) throws(StorageError) -> NamedQueryRecord?
    func putNamedQuery(_ record: NamedQueryRecord) throws(StorageError)
}

/// The few numbers of which a store keeps exactly one.
package struct StoreGlobals: Sendable, Equatable {
    /// The newest snapshot of the whole stream that was applied.
    package var lastSnapshotVersion = Timestamp.never
    /// Even; the next target gets the next even number.
    package var highestTargetID = 0
    /// Counts transactions; the clock of the least-recently-used order.
    package var highestSequenceNumber: Int64 = 0
    /// Over all users, so that a batch's number says when it was written.
    package var highestBatchNumber = 0
    /// Who was signed in last; `nil` if nobody has signed in since the store was created or cleared.
    package var lastUserID: String?

    package init() {}

    /// For a store that has lost its cache: what counts on goes on counting.
    var wiped: StoreGlobals {
        var wiped = self
        wiped.lastSnapshotVersion = .never
        wiped.lastUserID = nil
        return wiped
    }
}

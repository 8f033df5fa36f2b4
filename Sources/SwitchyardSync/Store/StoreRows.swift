package import Switchyard

/// The rows of a ``SyncStore``, within one transaction.
///
/// Reads see what the same transaction wrote before. Lists have no particular order unless stated.
package protocol StoreRows: AnyObject {
    /// Whether documents with neighbouring names are stored side by side, so that many are best looked up in that order.
    var areInKeyOrder: Bool { get }

    // MARK: Counters

    var globals: StoreGlobals { get throws(StorageError) }
    func setGlobals(_ globals: StoreGlobals) throws(StorageError)

    // MARK: Targets

    func target(_ target: WatchTarget) throws(StorageError) -> TargetRecord?
    func targets() throws(StorageError) -> [TargetRecord]
    /// Inserts or replaces, by ``TargetRecord/id``.
    func putTarget(_ record: TargetRecord) throws(StorageError)
    /// Also removes its confirmed keys.
    func removeTarget(_ id: Int) throws(StorageError)

    /// The documents that the server has confirmed for a target.
    func confirmedKeys(of target: Int) throws(StorageError) -> Set<StoragePath>
    func addConfirmed(_ paths: some Collection<StoragePath>, to target: Int) throws(StorageError)
    func removeConfirmed(_ paths: some Collection<StoragePath>, from target: Int) throws(StorageError)
    func removeAllConfirmed(from target: Int) throws(StorageError)
    /// Whether the document is a confirmed key of any stored target.
    func isConfirmed(_ path: StoragePath) throws(StorageError) -> Bool

    // MARK: Documents

    func document(at path: StoragePath) throws(StorageError) -> CachedDocument?
    /// The documents at `paths`, in their order.
    func documents(at paths: [StoragePath]) throws(StorageError) -> [CachedDocument?]
    /// What is stored of the documents at `paths` besides their contents, in their order.
    ///
    /// - Parameter number: Their new sequence number, as for ``setSequenceNumber(_:of:)``; `nil` to leave it.
    func heads(at paths: [StoragePath], numbering number: Int64?) throws(StorageError) -> [CachedDocument.Head?]
    /// The tags of those documents at `paths` whose stored contents are the server's.
    func knownTags(at paths: some Collection<StoragePath>) throws(StorageError) -> [StoragePath: DocumentTag]
    /// Calls `body` for all stored documents in any state that are directly in the query's collection or group. Optionally only
    /// for those with a read time later than `version`, and only for those that `screen` admits.
    func forEachDocument(
        in source: Query.Source, readAfter version: Timestamp?, screen: DocumentPrefilter?,
        _ body: (CachedDocument) throws(StorageError) -> Void
    ) throws(StorageError)
    /// - Parameter old: The stored document, which the caller already knows.
    func putDocument(_ document: CachedDocument, replacing old: CachedDocument?) throws(StorageError)
    /// Also removes its sequence number.
    func removeDocument(at path: StoragePath) throws(StorageError)
    /// The approximate size of the documents, which is compared with the cache limit.
    var documentBytes: Int64 { get throws(StorageError) }

    // MARK: Sequence numbers, for collecting the least recently used documents

    /// Only increases numbers: a number that is not above the current one is ignored.
    func setSequenceNumber(_ number: Int64, of paths: [StoragePath]) throws(StorageError)
    /// The documents with a number up to `bound` that are not a confirmed key of any target, lowest number first.
    func orphans(upTo bound: Int64) throws(StorageError) -> [(path: StoragePath, sequenceNumber: Int64)]

    // MARK: The queue

    /// The batches of a user with a number above `number`, in order, at most `limit`.
    func batches(of owner: QueueOwner, after number: Int, limit: Int) throws(StorageError) -> [QueuedBatch]
    /// The batches that write to any of `paths`, or wait for the names of any, in order.
    func batches(of owner: QueueOwner, touching paths: Set<StoragePath>) throws(StorageError) -> [QueuedBatch]
    /// The last batches that write to `path`, or wait for its name, and have a number below `number`, at most `limit`, newest first.
    func lastBatches(
        of owner: QueueOwner, touching path: StoragePath, below number: Int, limit: Int
    ) throws(StorageError) -> [QueuedBatch]
    func batch(_ number: Int, of owner: QueueOwner) throws(StorageError) -> QueuedBatch?
    func highestBatchNumber(of owner: QueueOwner) throws(StorageError) -> Int?
    /// Whether any user's queue writes to the document, or waits for its name.
    func hasBatch(touching path: StoragePath) throws(StorageError) -> Bool
    /// Inserts or replaces, by ``QueuedBatch/number``.
    func putBatch(_ batch: QueuedBatch, of owner: QueueOwner) throws(StorageError)
    /// Removes a batch by its number. Its ID and its documents do not change, so any state of it can be passed: one that gets other
    /// documents is removed and inserted.
    func removeBatch(_ batch: QueuedBatch, of owner: QueueOwner) throws(StorageError)

    /// The name that the server made for a document of this device; `nil` for any other.
    func name(of document: StoragePath, for owner: QueueOwner) throws(StorageError) -> StoragePath?
    /// Kept as long as the queue's owner has data here.
    func putName(_ name: StoragePath, of document: StoragePath, for owner: QueueOwner) throws(StorageError)

    // MARK: Overlays

    func overlay(of owner: QueueOwner, at path: StoragePath) throws(StorageError) -> Overlay?
    /// The overlays directly in the query's collection or group, optionally only with a batch number above `number`.
    func overlays(
        of owner: QueueOwner, in source: Query.Source, afterBatch number: Int?
    ) throws(StorageError) -> [Overlay]
    func putOverlay(_ overlay: Overlay, of owner: QueueOwner) throws(StorageError)
    func removeOverlay(of owner: QueueOwner, at path: StoragePath) throws(StorageError)
    /// Removes the overlay only if the newest batch in it is `number`.
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

/// The values of which a store has exactly one each.
package struct StoreGlobals: Sendable, Equatable {
    /// The newest snapshot of the whole stream that was applied.
    package var lastSnapshotVersion = Timestamp.never
    /// The highest version that a snapshot or a document ever had here.
    package var highestVersion = Timestamp.never
    /// Always even; the next target gets the next even number.
    package var highestTargetID = 0
    /// Counts transactions, as the clock of the least recently used order.
    package var highestSequenceNumber: Int64 = 0
    /// Counts the batches of all users, so that numbers show the order of writing.
    package var highestBatchNumber = 0
    /// The last signed-in user; `nil` if no user has signed in since the store was created or cleared.
    package var lastUserID: String?
    /// The user whose overlays fit the cache: only those of the queue in use follow its changes. `nil` if there are none.
    package var overlayOwner: QueueOwner?

    package init() {}

    /// The values for a store without its cache: counters continue.
    var wiped: StoreGlobals {
        var wiped = self
        wiped.lastSnapshotVersion = .never
        wiped.lastUserID = nil
        wiped.overlayOwner = nil
        return wiped
    }
}

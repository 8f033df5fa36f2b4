/// What a storage provider supports beyond the basics that every provider has. By default, nothing.
///
/// An operation that is not declared throws `.unsupported`, and names the provider and an alternative.
public struct StorageCapabilities: Sendable, Hashable {
    /// Streams of documents and query results.
    public var liveStreams = false
    public var transactions = false
    /// Queries over all collections of one name.
    public var collectionGroups = false
    /// Sum and average; counting always works.
    public var aggregates = false
    /// The names of the collections below a document or at the top.
    public var listCollections = false
    /// Deleting a document with everything below it.
    public var recursiveDelete = false
    /// Conditions combined by `any`.
    public var alternatives = false
    /// Conditions `notEqual`, `notIn`, `isNotNull` and `isNotNaN`.
    public var negations = false
    /// Preconditions on a document's version.
    public var versionPreconditions = false
    /// Documents below documents, to any depth, in any collection. Without it, only the collections that were set up exist.
    public var openSchema = false
    /// Values of every kind in every field. Without it, each field has the type of its column.
    public var openTypes = false
    /// Batches and transactions of any writes. Without it, a batch has one write, or several that are all sets, all creations
    /// or all deletions of documents of one collection, and a transaction reads and writes one document.
    public var mixedBatches = false
    /// Fields that the server computes: increments, server times, array changes.
    public var transforms = false
    /// A cache and a queue of writes: ``StorageClient/disableNetwork()``, pending writes, reading from the cache.
    public var offline = false
    /// The maximum number of writes in one batch; `nil` if only the size of the request is limited.
    public var maximumBatchSize: Int?
    /// How many deletions a batch may have in any case, if those are fewer. More may be refused with `.unsupported`.
    public var maximumDeletions: Int?

    public init() {}

    /// Everything, without a limit on batches.
    public static let all: StorageCapabilities = {
        var all = StorageCapabilities()
        all.liveStreams = true
        all.transactions = true
        all.collectionGroups = true
        all.aggregates = true
        all.listCollections = true
        all.recursiveDelete = true
        all.alternatives = true
        all.negations = true
        all.versionPreconditions = true
        all.openSchema = true
        all.openTypes = true
        all.mixedBatches = true
        all.transforms = true
        all.offline = true
        return all
    }()
}

/// A client that keeps documents of its own beside those of the app, such as a ledger of writes: they are not moved.
package protocol KeepsOwnCollections: Sendable {
    /// The names of their collections.
    var ownCollections: Set<String> { get }
}

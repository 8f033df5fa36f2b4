public import Foundation
public import Switchyard

/// The few server calls that a provider supplies to get live queries, a cache and a write queue.
///
/// The engine does the rest. It never calls a driver while the network is disabled, and never commits two batches at the same
/// time. A driver keeps no cache, retries nothing and applies no writes locally; a failed commit says by
/// `StorageError.isRefusal` whether the server has refused the batch for good.
///
/// ```swift
/// let storage = SyncedStorageClient(driver: driver, storage: .folder(folder))
/// ```
public protocol SyncDriver: Sendable {
    /// The provider, for error messages.
    var provider: InfrastructureProvider { get }
    /// What the backend supports; the engine sets `offline` and `liveStreams`.
    var capabilities: StorageCapabilities { get }
    var traits: SyncDriverTraits { get }

    /// The engine's store is open. Called once per engine, before any other call, unless the store cannot be opened.
    ///
    /// A driver that counts versions itself, because its backend has none, continues behind `version`: then they go on
    /// increasing across starts, even if the device's clock was set back in between. The default does nothing.
    ///
    /// - Parameter version: The highest version that the store has ever held; `Timestamp(microseconds: 0)` for a new store.
    func begin(after version: Timestamp)

    /// The committed state of documents, in the given order; a missing one has no data.
    ///
    /// Each snapshot carries its version, and the result the time as of which documents were missing.
    func documents(_ paths: [StoragePath]) async throws(StorageError) -> FetchedDocuments

    /// The committed results of a query, in its order.
    func results(of query: Query) async throws(StorageError) -> FetchedDocuments

    /// Opens the stream of changes. One at a time; the engine opens the next after this one has ended.
    ///
    /// - Throws: `.unavailable` (retryable) without a connection; `.unauthenticated` if the session is not accepted.
    func openWatch() async throws(StorageError) -> any WatchConnection

    /// Another process on this device has written to the server.
    ///
    /// A driver that finds changes by asking asks now. The default does nothing, for servers that tell their stream.
    func checkForChanges()

    /// Refuses what the backend can never carry out, as far as is known on the device.
    ///
    /// Called before a batch is queued: its caller gets the error, instead of a refusal when the batch's turn has come. The
    /// default refuses nothing.
    func check(_ writes: [DocumentWrite]) throws(StorageError)

    /// Carries out all writes of a batch or none.
    ///
    /// - Throws: With `StorageError.isRefusal`, the server's refusal of this batch, after which it leaves the queue: see
    ///   `StorageError.asRefusal(_:)`. After any other error, whatever its code, including a lost answer, the batch stays and
    ///   is retried.
    func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult

    /// Carries out several batches, in order, each completely or not at all. Called only with
    /// ``SyncDriverTraits/mergesBatches``, and never with a batch that was sent before.
    ///
    /// A driver may stop before any batch, such as one that the server refuses or one that no longer fits the request. The
    /// engine then sends this batch separately, which tells the reason, and the batches after it later.
    ///
    /// - Throws: As for one batch. A refusal says that none has taken effect: the engine sends the batches one by one, to find
    ///   the refused one.
    /// - Returns: A result for each batch that took effect. Those without a result have had no effect and will have none.
    func commit(_ batches: [OutgoingBatch]) async throws(StorageError) -> [CommitResult]

    /// Whether a path stands for a document whose name the server will make. The default has none. Called only with
    /// ``SyncDriverTraits/makesNames``.
    func isProvisional(_ document: StoragePath) -> Bool

    /// Whether the addition of a provisional document can be found again after a lost answer, by the name of its batch. Then it
    /// waits in the queue like any write. The default finds none, so that adding needs a connection.
    func findsAddition(of document: StoragePath) -> Bool

    /// Adds a document under a name that the server makes.
    ///
    /// Called only for a creation of a provisional document. One that is found again, see ``findsAddition(of:)``, comes again
    /// after a lost answer, marked as ``OutgoingBatch/mayHaveBeenSent``, and must not be added twice. Any other comes once, and
    /// has no ``OutgoingBatch/bases``.
    ///
    /// - Throws: As ``commit(_:)-(OutgoingBatch)``. If the answer was lost, and it cannot be found out whether the document was
    ///   added, an error that says so.
    /// - Returns: The document and the server's answer.
    func add(_ batch: OutgoingBatch) async throws(StorageError) -> (document: StoragePath, result: CommitResult)

    /// The result of a batch that was sent before and whose answer was lost; `nil` if it never took effect, or if the ledger
    /// does not cover what it writes to: then ``commit(_:)-(OutgoingBatch)`` gets it again, marked as
    /// ``OutgoingBatch/mayHaveBeenSent``.
    ///
    /// Called only with ``SyncDriverTraits/hasLedger``, before such a batch is sent again.
    func result(of batch: OutgoingBatch) async throws(StorageError) -> CommitResult?

    func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend

    /// Values that the server computes. The default reads the documents.
    func aggregate(_ query: Query, _ aggregations: [Aggregation]) async throws(StorageError) -> [DocumentValue]

    func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath]

    /// As `StorageClient.dividers(ofGroup:into:)`. The default has none.
    func dividers(ofGroup group: String, into count: Int) async throws(StorageError) -> [StoragePath]

    /// Deletes a document and everything below it on the server; called after all earlier queued writes have been answered.
    /// The default refuses: then the engine lists collections and deletes through its queue.
    ///
    /// - Returns: The number of documents deleted.
    func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int

    /// Reads a bundle in the backend's own format. The default refuses.
    ///
    /// - Throws: `.invalidArgument` if the data is not a bundle, or is one of another database.
    func bundle(from data: Data) async throws(StorageError) -> DocumentBundle

    /// Where this driver's transfers run, if short tasks may run there as well.
    ///
    /// An engine in memory runs small commits there, and so needs no thread switches between a write, its transfer and its
    /// answer. While a task runs there, transfers wait. The default is `nil`: tasks run where Swift runs them.
    var executor: (any TaskExecutor)? { get }

    /// For clients without an engine that share one while streams are open, such as ``DirectStorageClient``: a driver for
    /// that engine only, with the resources to receive changes, such as its own connection. It is shut down with the engine,
    /// but must not shut down resources that this driver still uses.
    ///
    /// The default is `nil`: this driver serves the engine, too, and is not shut down with it.
    func makeStreamDriver() -> (any SyncDriver)?

    /// Releases connections. No call follows.
    func shutDown() async
}

extension SyncDriver {
    public func begin(after version: Timestamp) {}

    public func checkForChanges() {}

    public func check(_ writes: [DocumentWrite]) throws(StorageError) {}

    public func commit(_ batches: [OutgoingBatch]) async throws(StorageError) -> [CommitResult] {
        throw .unsupported("several batches at once", by: provider, instead: "Send them one by one.")
    }

    public func isProvisional(_ document: StoragePath) -> Bool { false }

    public func findsAddition(of document: StoragePath) -> Bool { false }

    public func add(_ batch: OutgoingBatch) async throws(StorageError) -> (document: StoragePath, result: CommitResult)
    {
        throw .unsupported("documents without a name", by: provider, instead: "Name the document.")
    }

    public func result(of batch: OutgoingBatch) async throws(StorageError) -> CommitResult? { nil }

    public func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        throw .unsupported("transactions", by: provider, instead: "Use a batch, or updates with a precondition.")
    }

    public func aggregate(
        _ query: Query, _ aggregations: [Aggregation]
    ) async throws(StorageError) -> [DocumentValue] {
        try await AggregateEvaluator.values(of: aggregations, over: results(of: query).documents)
    }

    public func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        throw .unsupported("listing collections", by: provider, instead: "Keep their names in a document.")
    }

    public func dividers(ofGroup group: String, into count: Int) async throws(StorageError) -> [StoragePath] { [] }

    public func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        throw .unsupported("recursive deletion", by: provider, instead: "Delete the documents one by one.")
    }

    public func bundle(from data: Data) async throws(StorageError) -> DocumentBundle {
        throw .unsupported("bundles of documents", by: provider, instead: "Read the documents with a query.")
    }

    public var executor: (any TaskExecutor)? { nil }

    public func makeStreamDriver() -> (any SyncDriver)? { nil }

    public func shutDown() async {}
}

/// Differences between backends for which the engine compensates.
public struct SyncDriverTraits: Sendable, Hashable {
    /// Whether ``SyncDriver/result(of:)`` knows every batch that took effect.
    ///
    /// Without it, a batch whose answer was lost is sent again, and an increment in it may count twice, unless the driver
    /// finds out with ``usesTags``.
    public var hasLedger: Bool
    /// Whether waiting batches may share a request, so that a queue empties faster.
    public var mergesBatches: Bool
    /// Whether a document that a user may not see looks missing, instead of making the read fail. When the user may see it
    /// again, it has its original version, which is older than the time at which it was missing.
    public var hidesDocuments: Bool
    /// Whether some documents have a ``DocumentTag``. Then the engine passes the tags that it knows with each target, and the
    /// ``OutgoingBatch/bases`` with each batch; a batch that writes to a document of an unanswered batch waits for the answer.
    public var usesTags: Bool
    /// Whether the server makes the names of some documents; see ``SyncDriver/isProvisional(_:)``.
    public var makesNames = false
    /// The names of collections that the driver keeps for itself, such as its ledger. They are left out when a backend is copied.
    public var ownCollections: Set<String> = []

    public init(
        hasLedger: Bool, mergesBatches: Bool = false, hidesDocuments: Bool = false, usesTags: Bool = false
    ) {
        self.hasLedger = hasLedger
        self.mergesBatches = mergesBatches
        self.hidesDocuments = hidesDocuments
        self.usesTags = usesTags
    }
}

public import Foundation
public import Switchyard

/// The few server calls that a provider supplies to get live queries, a cache and a write queue.
///
/// The engine does the rest. It never calls a driver while the network is disabled, and never commits two batches at the same
/// time. A driver keeps no cache, retries nothing and applies no writes locally; a failed commit says by
/// `StorageError.isRefusal` whether the server has refused the batch for good.
///
/// ```swift
/// let storage = SyncedStorageClient(driver: AcmeDriver(…), storage: .folder(folder))
/// ```
public protocol SyncDriver: Sendable {
    /// The provider, for error messages.
    var provider: InfrastructureProvider { get }
    /// What the backend supports; the engine sets `offline` and `liveStreams`.
    var capabilities: StorageCapabilities { get }
    var traits: SyncDriverTraits { get }

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

    /// The result of a batch that was sent before and whose answer was lost; `nil` if it never took effect.
    ///
    /// Called only with ``SyncDriverTraits/hasLedger``, before such a batch is sent again.
    func result(ofBatch id: String) async throws(StorageError) -> CommitResult?

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
    public func commit(_ batches: [OutgoingBatch]) async throws(StorageError) -> [CommitResult] {
        throw .unsupported("several batches at once", by: provider, instead: "Send them one by one.")
    }

    public func result(ofBatch id: String) async throws(StorageError) -> CommitResult? { nil }

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
    /// Whether ``SyncDriver/result(ofBatch:)`` knows every batch that took effect.
    ///
    /// Without it, a batch whose answer was lost is sent again, and an increment in it may count twice.
    public var hasLedger: Bool
    /// Whether waiting batches may share a request, so that a queue empties faster.
    public var mergesBatches: Bool
    /// Whether a document that a user may not see looks missing, instead of making the read fail. When the user may see it
    /// again, it has its original version, which is older than the time at which it was missing.
    public var hidesDocuments: Bool

    public init(hasLedger: Bool, mergesBatches: Bool = false, hidesDocuments: Bool = false) {
        self.hasLedger = hasLedger
        self.mergesBatches = mergesBatches
        self.hidesDocuments = hidesDocuments
    }
}

/// The result of a read, and its time.
public struct FetchedDocuments: Sendable {
    public var documents: [DocumentSnapshot]
    public var readTime: Timestamp
    /// When missing documents were deleted, if the server reports it; others are missing as of ``readTime``.
    public var deletionTimes: [StoragePath: Timestamp]
    /// How many results the server counted towards the query's limit: more than there are ``documents`` if some of them
    /// cannot be documents, such as rows with impossible names. Pages and scans go on as long as it reaches the limit.
    public var rowCount: Int

    /// By default, `rowCount` is the number of documents.
    public init(
        documents: [DocumentSnapshot], readTime: Timestamp, deletionTimes: [StoragePath: Timestamp] = [:],
        rowCount: Int? = nil
    ) {
        self.documents = documents
        self.readTime = readTime
        self.deletionTimes = deletionTimes
        self.rowCount = rowCount ?? documents.count
    }

    /// The document behind which more results may follow, as the server sees it: the last one, if the limit has cut off the
    /// rest.
    func cut(by query: Query) -> QueryCut? {
        guard case .first(let count)? = query.limit, rowCount >= count else { return nil }
        return QueryCut(behind: documents.last)
    }
}

/// A batch on its way to the server.
public struct OutgoingBatch: Sendable {
    /// The batch's name in the ledger: the same at every attempt, and never that of another batch.
    public let id: String
    public let writes: [DocumentWrite]
    /// Whether an earlier attempt may have reached the server.
    public internal(set) var mayHaveBeenSent: Bool
    /// The user whose queue holds the batch; never send it in another user's name. `nil` if nobody was signed in.
    public let userID: String?

    public init(id: String, writes: [DocumentWrite], mayHaveBeenSent: Bool, userID: String? = nil) {
        self.id = id
        self.writes = writes
        self.mayHaveBeenSent = mayHaveBeenSent
        self.userID = userID
    }
}

/// What the server answered to a batch.
public struct CommitResult: Sendable, Hashable {
    /// When the batch took effect.
    public var commitTime: Timestamp
    /// For each write, the document's version after it; `nil` stands for `commitTime`.
    public var updateTimes: [Timestamp?]
    /// For each write, the results of its transforms; for `nil`, the engine computes them from its cache.
    public var transformResults: [[DocumentValue]?]

    /// Lists may be shorter than the batch; missing elements count as `nil`.
    public init(commitTime: Timestamp, updateTimes: [Timestamp?] = [], transformResults: [[DocumentValue]?] = []) {
        self.commitTime = commitTime
        self.updateTimes = updateTimes
        self.transformResults = transformResults
    }
}

public import Foundation
public import Switchyard

/// What a provider supplies to get live queries, a cache and a queue of writes: a few calls to its server.
///
/// The engine above does the rest. It never calls a driver while it is told to stay off the network, and never commits two
/// batches at the same time. A driver keeps no cache, retries nothing and applies no writes locally; a failed commit says by
/// `StorageError.isRefusal` whether the server has refused the batch for good.
///
/// ```swift
/// let storage = SyncedStorageClient(driver: AcmeDriver(…), storage: .folder(folder))
/// ```
public protocol SyncDriver: Sendable {
    /// Who stands behind, for error texts.
    var provider: InfrastructureProvider { get }
    /// What the backend can do; `offline` and `liveStreams` are the engine's and need not be set.
    var capabilities: StorageCapabilities { get }
    var traits: SyncDriverTraits { get }

    /// The committed state of documents, in the order asked for; a missing one has no data.
    ///
    /// Each snapshot carries its version, and the answer the time as of which missing ones were missing.
    func documents(_ paths: [StoragePath]) async throws(StorageError) -> FetchedDocuments

    /// The committed results of a query, in its order.
    func results(of query: Query) async throws(StorageError) -> FetchedDocuments

    /// Opens the stream of changes. One at a time; the engine opens the next after this one has ended.
    ///
    /// - Throws: `.unavailable` (retryable) without a connection; `.unauthenticated` when the session is not accepted.
    func openWatch() async throws(StorageError) -> any WatchConnection

    /// Carries out all writes of a batch or none.
    ///
    /// - Throws: With `StorageError.isRefusal`, the server's refusal of this batch, after which it leaves the queue: see
    ///   `StorageError.asRefusal(_:)`. Anything else, whatever its code, and including an answer that was lost, keeps it
    ///   there, and it will be tried again.
    func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult

    /// Carries out all writes of several batches, in their order, or none. Asked only with
    /// ``SyncDriverTraits/mergesBatches``, and never with a batch that was sent before.
    ///
    /// - Throws: As for one batch. After a refusal the engine sends the batches one by one, to find out which it was.
    /// - Returns: A result for each batch.
    func commit(_ batches: [OutgoingBatch]) async throws(StorageError) -> [CommitResult]

    /// What became of a batch that was sent before and whose answer was lost; `nil` when it never took effect.
    ///
    /// Asked only with ``SyncDriverTraits/hasLedger``, before such a batch is sent again.
    func result(ofBatch id: String) async throws(StorageError) -> CommitResult?

    func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend

    /// Values that the server computes. The default reads the documents.
    func aggregate(_ query: Query, _ aggregations: [Aggregation]) async throws(StorageError) -> [DocumentValue]

    func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath]

    /// As `StorageClient.dividers(ofGroup:into:)`. The default has none.
    func dividers(ofGroup group: String, into count: Int) async throws(StorageError) -> [StoragePath]

    /// Deletes a document and everything below it, where the server can by itself; called once all writes queued before have
    /// been answered. The default refuses: then the engine lists collections and deletes through its queue.
    ///
    /// - Returns: How many documents were deleted.
    func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int

    /// Reads a bundle in the backend's own format. The default refuses.
    ///
    /// - Throws: `.invalidArgument` if the data is not a bundle, or is one of another database.
    func bundle(from data: Data) async throws(StorageError) -> DocumentBundle

    /// For clients that keep no engine and share one while streams are open, as ``DirectStorageClient`` does: a driver for that
    /// engine alone, with what it takes to hear of changes, such as a connection of its own. It is shut down with the engine,
    /// and leaves alone then what this driver goes on using.
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

    public func makeStreamDriver() -> (any SyncDriver)? { nil }

    public func shutDown() async {}
}

/// How a backend behaves where backends differ and the engine makes up for it.
public struct SyncDriverTraits: Sendable, Hashable {
    /// Whether ``SyncDriver/result(ofBatch:)`` knows every batch that took effect.
    ///
    /// Without it a batch whose answer was lost is sent again, and an increment in it may count twice.
    public var hasLedger: Bool
    /// Whether batches that wait may travel in one request, so that a queue empties faster.
    public var mergesBatches: Bool
    /// Whether a document that somebody may not see is missing to them, instead of a reason to refuse the read. When they may
    /// see it again it is there in the version that it always had, older than the moment in which it was missing.
    public var hidesDocuments: Bool

    public init(hasLedger: Bool, mergesBatches: Bool = false, hidesDocuments: Bool = false) {
        self.hasLedger = hasLedger
        self.mergesBatches = mergesBatches
        self.hidesDocuments = hidesDocuments
    }
}

/// What a read brought, and as of when.
public struct FetchedDocuments: Sendable {
    public var documents: [DocumentSnapshot]
    public var readTime: Timestamp
    /// When those that are missing were deleted, where the server tells; any other is missing as of ``readTime``.
    public var deletionTimes: [StoragePath: Timestamp]

    public init(
        documents: [DocumentSnapshot], readTime: Timestamp, deletionTimes: [StoragePath: Timestamp] = [:]
    ) {
        self.documents = documents
        self.readTime = readTime
        self.deletionTimes = deletionTimes
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
    /// For each write the document's version after it; `nil` stands for `commitTime`.
    public var updateTimes: [Timestamp?]
    /// For each write the results of its transforms; with `nil` the engine computes them from its cache.
    public var transformResults: [[DocumentValue]?]

    /// Lists may be shorter than the batch; what is missing counts as `nil`.
    public init(commitTime: Timestamp, updateTimes: [Timestamp?] = [], transformResults: [[DocumentValue]?] = []) {
        self.commitTime = commitTime
        self.updateTimes = updateTimes
        self.transformResults = transformResults
    }
}

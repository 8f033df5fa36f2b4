/// The client for documents: read, watch, query and write them, and run transactions, on any provider.
///
/// The requirements are the few operations whose meaning differs between backends. A provider can replace those with a
/// default if it has a better way. Everything else — `setDocument`, `updateDocument`, typed documents, pages — is written
/// once, in extensions, and works the same everywhere.
///
/// ```swift
/// try await storage.setDocument("users/alice", ["name": "Alice"])
/// let alice = try await storage.document("users/alice")
/// for try await adults in storage.snapshots(of: Query(in: "users").where("age", .greaterThan, 17)) { … }
/// ```
///
/// A query with a ``Query/mistake`` and a path that is not valid are refused by every operation: a client begins each with
/// ``Query/checked()``, ``StoragePath/checked()`` or ``WriteBatch/checked()``.
///
/// A wrapper of a client conforms to ``StorageLayer`` instead, which forwards every requirement.
public protocol StorageClient: Sendable {
    /// The provider, for error texts.
    var provider: InfrastructureProvider { get }
    var capabilities: StorageCapabilities { get }
    /// What pauses between the attempts at a transaction are measured with. Real time by default.
    var clock: any Clock<Duration> { get }

    /// The document at `path`. A missing document is not an error: its snapshot has no data.
    ///
    /// - Throws: `.unauthorized` if rules forbid it; `.unavailable` (retryable) without an answer.
    func document(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot

    /// Several documents, each once, in the order asked for. One round trip where the backend can.
    func documents(_ paths: [StoragePath], from source: ReadSource) async throws(StorageError) -> [DocumentSnapshot]

    /// The results of `query` now.
    func documents(_ query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot

    /// The document at `path`, now and after every change. The first element is its current state.
    ///
    /// Ends only with a permanent failure, such as a lost permission; lost connections are repaired underneath.
    func snapshots(of path: StoragePath, options: ListenOptions) -> SnapshotStream<DocumentSnapshot, StorageError>

    /// The results of `query`, now and after every change. Ends only with a permanent failure.
    func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError>

    /// Carries out all writes of `batch` or none.
    ///
    /// Returns once the batch is safe: with the server, or, for a client with a queue, on this device.
    /// - Throws: `.invalidArgument` for an empty batch or one above ``StorageCapabilities/maximumBatchSize``; without a
    ///   queue, also what the server says.
    @discardableResult
    func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt

    /// Runs `body` as a transaction: its reads and writes take effect as if nobody else had used the database meanwhile.
    ///
    /// `body` may run several times and must have no other effect. It is tried again, after a growing pause, when somebody
    /// else changed what it read, or when a read found no server. A commit without an answer is not repeated: it may
    /// have taken effect. Nor is anything repeated that the server wants to be asked again later than in five seconds.
    /// - Throws: What `body` throws, as it is if it is a `StorageError`, else as `.aborted` around it; `.aborted` after the
    ///   last attempt; `.unsupported` where the provider has no transactions.
    @discardableResult
    func transaction<Result: Sendable>(
        _ options: TransactionOptions, _ body: @Sendable (StorageTransaction) async throws -> Result
    ) async throws(StorageError) -> Result

    /// The seam below ``transaction(_:_:)``, one attempt: reads that see committed documents only, then one commit.
    func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend

    /// Values computed over the results of `query` on the server, in the order asked for.
    ///
    /// Never over the cache, which may hold only a part of the documents, and without writes that still wait. The default
    /// reads the documents from the server; a provider whose server computes does better.
    /// - Throws: `.unavailable` (retryable) without a connection.
    func aggregate(_ query: Query, _ aggregations: [Aggregation]) async throws(StorageError) -> [DocumentValue]

    /// The names of the collections below `document`, or at the top, sorted. Asks the server, never the cache.
    func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath]

    /// Documents that divide all collections of one name into parts of about the same size, for several to read at a time: sorted,
    /// each the first of its part, and none before the first part.
    ///
    /// Fewer than asked for where there is little to divide; none where the backend cannot say, as with the default.
    /// - Parameters:
    ///   - group: The collections' name.
    ///   - count: How many parts are wanted.
    func dividers(ofGroup group: String, into count: Int) async throws(StorageError) -> [StoragePath]

    /// Deletes `document` and everything below it on the server, in bounded batches; needs the capability.
    ///
    /// Not one transaction: stopped half-way, by cancellation or a failure, it leaves the upper documents, and can be
    /// done again. The default lists collections and deletes from the leaves up. `progress` is called after each batch
    /// with the number of documents deleted so far.
    /// - Returns: How many documents were deleted; names of documents that never existed may count.
    func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int

    // MARK: Offline; the defaults refuse with `.unsupported`, except where doing nothing is right.

    func enableNetwork() async throws(StorageError)
    /// Stops all network traffic: reads come from the cache, and writes wait.
    func disableNetwork() async throws(StorageError)
    /// Returns when the server has accepted or refused every write queued so far; at once if the queue is empty. Without a
    /// connection it waits for one; ``waitForPendingWrites(within:)`` waits no longer than you say.
    func waitForPendingWrites() async throws(StorageError)
    /// An element after each round of changes in which all listeners have been served.
    func snapshotsInSync() -> EventStream<Void, StorageError>
    /// The queue of writes, now and after every change, oldest first.
    func pendingWrites() -> SnapshotStream<[PendingWrite], StorageError>
    /// Takes a write out of the queue before it is sent.
    ///
    /// - Returns: `false` if it is under way or gone already.
    func cancelPendingWrite(_ id: PendingWrite.ID) async throws(StorageError) -> Bool
    /// Sends what waits without regard to the pause after a failure.
    func retryPendingWrites() async throws(StorageError)
    /// Writes that the server refused for good, now and after every change, oldest first.
    func refusedWrites() -> SnapshotStream<[RefusedWrite], StorageError>
    /// Removes a refused write from the list; with `requeuing`, its batch (or a corrected one) is queued again.
    func resolveRefusedWrite(_ id: RefusedWrite.ID, requeuing batch: WriteBatch?) async throws(StorageError)
    /// Deletes everything kept on this device, what other users have queued included. Only while no stream is open.
    func clearPersistence() async throws(StorageError)

    // MARK: Life

    /// Ends all streams and releases everything. Later calls throw `.shutDown`. You may call this twice.
    func shutDown() async

    /// The client of type `Client` in this one or in what it wraps: the tested way to native features.
    func unwrapped<Client>(as type: Client.Type) -> Client?
}

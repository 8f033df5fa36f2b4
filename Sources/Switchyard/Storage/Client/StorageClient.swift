/// The client for documents: read, watch, query and write them, and run transactions, on any provider.
///
/// The requirements are the few operations that differ between backends. A provider can replace those that have a default if
/// it has a better way. Everything else, such as `setDocument`, `updateDocument`, typed documents and pages, is implemented
/// once in extensions and works the same everywhere.
///
/// ```swift
/// try await storage.setDocument("users/alice", ["name": "Alice"])
/// let alice = try await storage.document("users/alice")
/// for try await adults in storage.snapshots(of: Query(in: "users").where("age", .greaterThan, 17)) {
///     show(adults.documents)
/// }
/// ```
///
/// Every operation refuses a query with a ``Query/mistake`` and an invalid path: a client begins each operation with
/// ``Query/checked()``, ``StoragePath/checked()`` or ``WriteBatch/checked()``.
///
/// A wrapper of a client conforms to ``StorageClientWrapper`` instead, which forwards every requirement.
public protocol StorageClient: Sendable {
    /// The provider, for error messages.
    var provider: InfrastructureProvider { get }
    var capabilities: StorageCapabilities { get }
    /// Which client this is, for comparing handles. By default, an object is itself, and all values of a type are one client.
    var identity: ClientIdentity { get }
    /// The clock for pauses between the attempts at a transaction. Real time by default.
    var clock: any Clock<Duration> { get }

    /// A document of `collection` with a new random name, as the backend accepts it there. It does not exist until you write
    /// it. By default, the name has 20 letters and digits.
    ///
    /// Where only the server makes names, as in a table with an identity column, the name is provisional and good for one
    /// creation. If the client does not queue the creation, ``WriteReceipt/added`` is the document. If it does, the document
    /// has the provisional name on this device until the server has made another, which is
    /// ``WriteReceipt/Acknowledgement/added``; from then on both names lead to the document.
    func newDocument(in collection: CollectionPath) -> StoragePath

    /// The document at `path`. A missing document is not an error: its snapshot has no data.
    ///
    /// - Throws: `.unauthorized` if rules forbid it; `.unavailable` (retryable) if the server does not answer.
    func document(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot

    /// Several documents, each once, in the given order. One round trip if the backend supports it.
    func documents(_ paths: [StoragePath], from source: ReadSource) async throws(StorageError) -> [DocumentSnapshot]

    /// The results of `query` now.
    func documents(_ query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot

    /// The document at `path`, now and after every change. The first element is its current state.
    ///
    /// Ends only with a permanent failure, such as a lost permission; the client reconnects on its own.
    func snapshots(of path: StoragePath, options: ListenOptions) -> SnapshotStream<DocumentSnapshot, StorageError>

    /// The results of `query`, now and after every change. Ends only with a permanent failure.
    func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError>

    /// Carries out all writes of `batch` or none.
    ///
    /// Returns once the batch is safe: on the server or, for a client with a queue, on this device.
    /// - Throws: `.invalidArgument` for an empty batch or one above ``StorageCapabilities/maximumBatchSize``; without a
    ///   queue, also the server's error.
    @discardableResult
    func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt

    /// Runs `body` as a transaction: its reads and writes take effect as if no other client had used the database meanwhile.
    ///
    /// `body` may run several times and must have no other side effects. It runs again, after growing pauses, if another
    /// client changed a document that it read, or if a read could not reach the server. A commit without a response is not
    /// repeated, because it may have taken effect. Nor is anything repeated if the server asks to wait for more than five
    /// seconds.
    /// - Throws: The error of `body`, as it is if it is a `StorageError`, else wrapped in `.aborted`; `.aborted` after the
    ///   last attempt; `.unsupported` if the provider has no transactions.
    @discardableResult
    func transaction<Result: Sendable>(
        _ options: TransactionOptions, _ body: @Sendable (StorageTransaction) async throws -> Result
    ) async throws(StorageError) -> Result

    /// One attempt of ``transaction(_:_:)``: reads that see committed documents only, then one commit.
    func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend

    /// Values computed on the server over the results of `query`, in the given order.
    ///
    /// Never uses the cache, which may hold only some of the documents, and does not include pending writes. The default
    /// reads the documents from the server; a provider whose server can compute replaces it.
    /// - Throws: `.unavailable` (retryable) without a connection.
    func aggregate(_ query: Query, _ aggregations: [Aggregation]) async throws(StorageError) -> [DocumentValue]

    /// The names of the collections below `document`, or at the top, sorted. Asks the server, never the cache.
    func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath]

    /// Documents that divide a collection group into parts of about the same size, to be read concurrently. They are sorted;
    /// each is the first of its part, and the first part has none.
    ///
    /// There may be fewer than requested if there is little to divide. Empty if the backend cannot divide, as in the default.
    /// - Parameters:
    ///   - group: The name of the collections.
    ///   - count: The desired number of parts.
    func dividers(ofGroup group: String, into count: Int) async throws(StorageError) -> [StoragePath]

    /// Deletes `document` and everything below it on the server, in bounded batches; needs the capability.
    ///
    /// This is not one transaction: if it stops halfway, by cancellation or a failure, the upper documents remain and you can
    /// run it again. The default lists collections and deletes from the leaves up. `progress` is called after each batch with
    /// the number of documents deleted so far.
    /// - Returns: The number of documents deleted. It may include names of documents that never existed.
    func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int

    // MARK: Offline; the defaults refuse with `.unsupported`, except where doing nothing is right.

    /// Ends ``disableNetwork()``: sends the queue and reconnects the streams.
    func enableNetwork() async throws(StorageError)
    /// Stops all network traffic until ``enableNetwork()``: reads come from the cache, and writes wait in the queue.
    func disableNetwork() async throws(StorageError)
    /// Returns when the server has committed or rejected every write queued so far; at once if the queue is empty. Without a
    /// connection it waits for one; ``waitForPendingWrites(within:)`` has a deadline.
    func waitForPendingWrites() async throws(StorageError)
    /// Emits an element after all listeners have received a round of changes.
    func snapshotsInSync() -> EventStream<Void, StorageError>
    /// The queue of writes, now and after every change, oldest first.
    func pendingWrites() -> SnapshotStream<[PendingWrite], StorageError>
    /// How far this device is in sync with the server, now and after every change. Ends when the client is shut down, or if the
    /// data on this device cannot be read; then the last element says why. By default, it tells what the queue tells.
    func syncStatus() -> SnapshotStream<SyncStatus, Never>
    /// Takes a write out of the queue before it is sent.
    ///
    /// - Returns: `false` if it is being sent or has left the queue.
    func cancelPendingWrite(_ id: PendingWrite.ID) async throws(StorageError) -> Bool
    /// Sends pending writes now, without waiting for the pause after a failure.
    func retryPendingWrites() async throws(StorageError)
    /// Writes that the server rejected, now and after every change, oldest first.
    func refusedWrites() -> SnapshotStream<[RefusedWrite], StorageError>
    /// Removes a rejected write from the list; with `requeuing`, its batch (or a corrected one) is queued again.
    func resolveRefusedWrite(_ id: RefusedWrite.ID, requeuing batch: WriteBatch?) async throws(StorageError)
    /// The writes that have not reached the server; `nil`, the default, if the client does not count them.
    var unsentWrites: UnsentWrites? { get async }
    /// Deletes everything kept on this device, including the queues of other users. Call it only while no stream is open.
    func clearPersistence() async throws(StorageError)

    // MARK: Life

    /// Ends all streams and releases everything. Later calls throw `.shutDown`. You may call this twice.
    func shutDown() async

    /// This client or a client that it wraps, if it is of type `Client`: the supported way to native features.
    func unwrapped<Client>(as type: Client.Type) -> Client?
}

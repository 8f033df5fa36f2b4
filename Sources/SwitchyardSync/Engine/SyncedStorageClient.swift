public import Foundation
public import Switchyard
import SwitchyardBytes
import Synchronization

/// Documents with a cache, live queries and a write queue, on any server with a ``SyncDriver``.
///
/// A write returns once it is saved on this device; its receipt gives you the server's answer. Streams show local writes at
/// once, survive lost connections, and say for each snapshot whether the server has confirmed it.
public final class SyncedStorageClient: StorageClient {
    public var provider: InfrastructureProvider { driver.provider }
    public let capabilities: StorageCapabilities
    public var clock: any Clock<Duration> { engine.clock }

    let driver: any SyncDriver
    package let engine: SyncEngine
    /// Every call and stream catches up with it, if users sign in and out; `nil` if ``setUser(_:)`` sets the user.
    let session: SessionSubscription?
    private let claim: StoreClaim?
    /// Connects the processes that share a state folder.
    private let signal: ProcessSignal?
    private let keepsQueueOnDisk: Bool
    /// Whether pending writes, which would be lost with the client, get some time to reach the server at shutdown.
    private let drainsAtEnd: Bool
    private let lastID = Atomic(0)
    /// How long shutting down waits for writes that would be lost with the client.
    private static let drainDeadline = Duration.seconds(3)

    /// - Parameters:
    ///   - driver: The server's side.
    ///   - storage: Opened by the first call that needs it; that call throws `.localStore` if it fails.
    ///   - userID: The owner of the write queue; see ``setUser(_:)``.
    ///   - clock: The clock for pauses.
    ///   - now: The time of day, used to timestamp waiting writes; by default, the system's.
    ///   - observer: Receives an event when streams reconnect after a lost connection.
    public convenience init(
        driver: any SyncDriver, storage: SyncStorage = .memory, userID: String? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        now: (@Sendable () -> Timestamp)? = nil, observer: any InfrastructureObserver = SilentObserver()
    ) {
        let engine = SyncEngine(
            driver, storage, userID: userID, clock: clock, now: now ?? { Timestamp(Date()) }, observer: observer)
        self.init(engine, keepsQueueOnDisk: storage.isOnDisk)
    }

    /// In memory, for a session that cannot be renewed: once it is no longer accepted, streams end with `.unauthenticated`.
    convenience init(
        ofOneSession driver: any SyncDriver, clock: any Clock<Duration>, observer: any InfrastructureObserver
    ) {
        self.init(
            SyncEngine(
                driver, .memory, userID: nil, clock: clock, now: { Timestamp(Date()) }, observer: observer,
                endsWithSession: true))
    }

    /// Follows the session: each user who signs in gets their own queue of writes.
    ///
    /// - Parameters:
    ///   - driver: The server's side.
    ///   - folder: Where documents and queued writes are stored; `nil` for memory.
    ///   - cacheBytes: Above approximately this size, the least recently used documents are dropped.
    ///   - context: The session and the clocks.
    /// - Throws: `.locked` while another client has the folder. If the folder cannot be used for another reason, the first
    ///   call that needs it throws.
    public convenience init(
        driver: any SyncDriver, folder: URL?, cacheBytes: Int64 = 100 << 20, context: ModuleContext
    ) async throws(InfrastructureError) {
        let claim = try folder.flatMap { folder throws(InfrastructureError) in try StoreClaim.take(folder) }
        let state = await context.auth?.state
        let engine = SyncEngine(
            driver, folder.map { .folder($0, maximumBytes: cacheBytes) } ?? .memory, claim: claim,
            userID: state?.user?.id, clock: context.clock, now: context.now, observer: context.observer)
        let session = context.session?.subscribe { [weak engine] change in
            try await engine?.follow(change)
        } failed: { [observer = context.observer] error in
            observer.observe(
                InfrastructureEvent(
                    service: .storage, provider: driver.provider,
                    kind: .notice(
                        "The user's local documents could not be deleted: \((error as? StorageError)?.message ?? "\(error)")"
                    )))
        }
        let signal = try context.signalFile().map { file in
            ProcessSignal(file.path) { [weak engine] in
                Task { await engine?.checkForChanges() }
            }
        }
        if let signal { await engine.announceCommits { signal.send() } }
        self.init(
            engine, session: session, claim: claim, signal: signal, keepsQueueOnDisk: folder != nil,
            drainsAtEnd: folder == nil)
        await session?.catchUp()
    }

    init(
        _ engine: SyncEngine, session: SessionSubscription? = nil, claim: StoreClaim? = nil,
        signal: ProcessSignal? = nil, keepsQueueOnDisk: Bool = false, drainsAtEnd: Bool = false
    ) {
        self.keepsQueueOnDisk = keepsQueueOnDisk
        self.engine = engine
        self.session = session
        self.claim = claim
        self.signal = signal
        self.drainsAtEnd = drainsAtEnd
        driver = engine.driver
        var capabilities = driver.capabilities
        capabilities.offline = true
        capabilities.liveStreams = true
        self.capabilities = capabilities
    }

    public var unsentWrites: UnsentWrites? {
        get async {
            if let count = await engine.writeCountInMemory { return UnsentWrites(count: count, isOnDisk: false) }
            await session?.catchUp()
            return UnsentWrites(count: (try? await engine.pendingWrites().count) ?? 0, isOnDisk: keepsQueueOnDisk)
        }
    }

    func newID() -> Int { lastID.add(1, ordering: .relaxed).newValue }

    /// Call this when another user signs in, or after a sign-out. Each user has a separate write queue; the previous user's
    /// writes wait until that user signs in again.
    public func setUser(_ userID: String?) async { await engine.setUser(userID) }

    // MARK: Streams

    public func snapshots(
        of path: StoragePath, options: ListenOptions
    ) -> SnapshotStream<DocumentSnapshot, StorageError> {
        if let mistake = path.mistake { return .failing(mistake) }
        return SnapshotStream { [self] continuation in
            listen(.document(path), options) { result in
                switch result {
                case .success(let snapshot): continuation.yield(snapshot.document(at: path))
                case .failure(let error): continuation.finish(throwing: error)
                }
            }
        }
    }

    public func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError> {
        if let mistake = query.mistake { return .failing(mistake) }
        return SnapshotStream { [self] continuation in
            let shape = Mutex(QueryShape(query))
            return listen(.query(QueryShape.live(query)), options) { result in
                switch result {
                case .success(let snapshot): continuation.yield(shape.withLock { $0.take(snapshot) })
                case .failure(let error): continuation.finish(throwing: error)
                }
            }
        }
    }

    private func listen(
        _ query: LiveQuery, _ options: ListenOptions, _ body: @escaping SyncEngine.Listen
    ) -> @Sendable () -> Void {
        let id = newID()
        var viewOptions = ViewOptions(
            includesMetadataChanges: options.includesMetadataChanges, readsCacheOnly: options.source == .cache)
        viewOptions.announcesConfirmation = true
        viewOptions.reportsServerErrors = options.includesMetadataChanges
        return visit { [viewOptions] engine in
            await engine.listen(id, query, viewOptions, body)
        } leave: { engine in
            await engine.unlisten(id)
        }
    }

    /// Begins a subscription.
    ///
    /// - Returns: A closure that ends it, in order: never before it has begun.
    func visit(
        enter: @escaping @Sendable (SyncEngine) async -> Void, leave: @escaping @Sendable (SyncEngine) async -> Void
    ) -> @Sendable () -> Void {
        let entering = Task { [engine, session] in
            await session?.catchUp()
            await enter(engine)
        }
        return { [engine] in
            Task {
                await entering.value
                await leave(engine)
            }
        }
    }

    // MARK: Writing

    @discardableResult
    public func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        guard let session else { return try await commit(batch, of: nil) }
        let owner = QueueOwner(try await session.catchUpToWrite())
        do throws(StorageError) {
            return try await commit(batch, of: owner)
        } catch {
            // Another user may have signed in meanwhile, or data may just have been wiped.
            guard error.code == .sessionChanged, QueueOwner(try await session.catchUpToWrite()) == owner
            else { throw error }
            return try await commit(batch, of: owner)
        }
    }

    /// - Parameter owner: The user who makes the write; by default, the storage's current user.
    /// - Throws: `.sessionChanged` if the storage has another user by now.
    func commit(_ batch: WriteBatch, of owner: QueueOwner?) async throws(StorageError) -> WriteReceipt {
        // What the driver says of a batch that it cannot carry out is the more exact.
        try driver.check(batch.checked().writes)
        try checkBatch(batch)
        if batch.writes.contains(where: { driver.isProvisional($0.path) && !driver.findsAddition(of: $0.path) }) {
            let writes = try await engine.prepareAddition(batch.writes)
            return try await driver.add(WriteBatch(writes), userID: owner?.userID)
        }
        let (id, answer, progress) = try await engine.write(
            batch.writes, merging: batch.mergesWaiting, of: owner)
        return WriteReceipt(
            batchID: id, lastFailure: { [weak engine] in await engine?.lastFailure() }, progress: progress
        ) {
            guard let result = await answer.value else {
                return .failure(StorageError(.cancelled, "The wait was cancelled. The write stays queued."))
            }
            return result.map { $0.acknowledgement(of: batch) }
        }
    }

    public func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        do throws(StorageError) { try await engine.checkServer() } catch { throw error.ofTransaction }
        return EngineTransaction(base: try await driver.makeTransaction(), engine: engine)
    }

    public func shutDown() async {
        session?.stop()
        signal?.stop()
        if drainsAtEnd { await drain(within: Self.drainDeadline) }
        if let lost = await engine.writeCountInMemory, lost > 0 { await engine.reportLostWrites(lost) }
        await engine.shutDown()
        await driver.shutDown()
        claim?.release()
    }
}

extension ViewSnapshot {
    /// The document in the view of a single document.
    fileprivate func document(at path: StoragePath) -> DocumentSnapshot {
        // The document may have got another name since.
        let name = if case .document(let name) = query { name } else { path }
        let document = documents.first ?? .missing(name)
        return document.with(
            SnapshotMetadata(
                isFromCache: isFromCache, localState: document.metadata.localState, serverError: serverError))
    }
}

package import Foundation
public import Switchyard
import SwitchyardBytes
import Synchronization

/// Documents with a cache, live queries and a queue of writes, over whatever server a ``SyncDriver`` speaks to.
///
/// A write returns once it is kept on this device; its receipt tells what the server made of it. Streams show local writes at
/// once, survive lost connections, and say of each snapshot whether the server has confirmed it.
public final class SyncedStorageClient: StorageClient, SignInFollowing, QueueKeeping {
    public var provider: InfrastructureProvider { driver.provider }
    public let capabilities: StorageCapabilities
    public var clock: any Clock<Duration> { engine.clock }

    let driver: any SyncDriver
    package let engine: SyncEngine
    /// Whom every call and stream catches up with, where people come and go; nil where ``setUser(_:)`` says whose it is.
    let follower: UserFollower?
    private let claim: StoreClaim?
    package let keepsQueueOnDisk: Bool
    package var writeCountInMemory: Int? { get async { await engine.writeCountInMemory } }
    /// Whether writes that wait at the end get a moment to reach the server, being lost with the client.
    private let drainsAtEnd: Bool
    private let lastID = Atomic(0)
    /// How long the end waits for writes that would be lost with the client.
    private static let drainDeadline = Duration.seconds(3)

    /// - Parameters:
    ///   - driver: The server's side.
    ///   - storage: Opened by the first call that needs it; that call throws `.localStore` when it cannot be.
    ///   - userID: Whose queue of writes it is; see ``setUser(_:)``.
    ///   - clock: What pauses are measured with.
    ///   - now: The time of day, which writes are stamped with while they wait; the system's when left out.
    ///   - observer: Told when a lost connection is being repaired underneath the streams.
    public convenience init(
        driver: any SyncDriver, storage: SyncStorage = .memory, userID: String? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        now: (@Sendable () -> Timestamp)? = nil, observer: any InfrastructureObserver = SilentObserver()
    ) {
        let engine = SyncEngine(
            driver, storage, userID: userID, clock: clock, now: now ?? { Timestamp(Date()) }, observer: observer)
        self.init(engine, keepsQueueOnDisk: storage.isOnDisk)
    }

    /// In memory, for a session that nobody can renew: once it is not accepted any more, streams end with
    /// `.unauthenticated`.
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
    ///   - folder: Where documents and queued writes are kept; `nil` to have them gone with the client.
    ///   - cacheBytes: Above about this size, the least recently used documents are dropped.
    ///   - context: Whose session it is, and time.
    /// - Throws: `.locked` while another client has the folder. A folder that cannot be used for another reason is told of by the
    ///   first call that needs it.
    package convenience init(
        driver: any SyncDriver, folder: URL?, cacheBytes: Int64, context: ModuleContext
    ) async throws(InfrastructureError) {
        let claim = try folder.flatMap { folder throws(InfrastructureError) in try StoreClaim.take(folder) }
        let state = await context.auth?.state
        let engine = SyncEngine(
            driver, folder.map { .folder($0, maximumBytes: cacheBytes) } ?? .memory, claim: claim,
            userID: state?.user?.id, clock: context.clock, now: context.now, observer: context.observer)
        var follower: UserFollower?
        if let auth = context.auth, let state { follower = UserFollower(auth, engine, context, known: state) }
        self.init(
            engine, follower: follower, claim: claim, keepsQueueOnDisk: folder != nil, drainsAtEnd: folder == nil)
        await follower?.start()
    }

    init(
        _ engine: SyncEngine, follower: UserFollower? = nil, claim: StoreClaim? = nil, keepsQueueOnDisk: Bool = false,
        drainsAtEnd: Bool = false
    ) {
        self.keepsQueueOnDisk = keepsQueueOnDisk
        self.engine = engine
        self.follower = follower
        self.claim = claim
        self.drainsAtEnd = drainsAtEnd
        driver = engine.driver
        var capabilities = driver.capabilities
        capabilities.offline = true
        capabilities.liveStreams = true
        self.capabilities = capabilities
    }

    package func catchUp() async { await follower?.catchUp() }

    func newID() -> Int { lastID.add(1, ordering: .relaxed).newValue }

    /// To be called when another user signs in, or nobody is signed in any more. Each user has a queue of writes of
    /// their own; those of the one who left wait until they come back.
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
        var wishes = ViewOptions(
            includesMetadataChanges: options.includesMetadataChanges, readsCacheOnly: options.source == .cache)
        wishes.announcesConfirmation = true
        wishes.announcesTrouble = options.includesMetadataChanges
        return visit { [wishes] engine in
            await engine.listen(id, query, wishes, body)
        } leave: { engine in
            await engine.unlisten(id)
        }
    }

    /// Begins something that lasts.
    ///
    /// - Returns: What ends it, in its turn: never before it has begun.
    func visit(
        enter: @escaping @Sendable (SyncEngine) async -> Void, leave: @escaping @Sendable (SyncEngine) async -> Void
    ) -> @Sendable () -> Void {
        let entering = Task { [engine, follower] in
            await follower?.catchUp()
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
        guard let follower else { return try await commit(batch, of: nil) }
        let owner = try await follower.catchUpToWrite()
        do throws(StorageError) {
            return try await commit(batch, of: owner)
        } catch {
            // Somebody may have come, or only have been forgotten meanwhile.
            guard error.code == .sessionChanged, try await follower.catchUpToWrite() == owner else { throw error }
            return try await commit(batch, of: owner)
        }
    }

    /// - Parameter owner: Who makes the write; by default the user whom the storage works for.
    /// - Throws: `.sessionChanged` when the storage works for somebody else by now.
    func commit(_ batch: WriteBatch, of owner: QueueOwner?) async throws(StorageError) -> WriteReceipt {
        try checkBatch(batch)
        let (id, answer) = try await engine.write(batch.writes, of: owner)
        return WriteReceipt(batchID: id, lastFailure: { [weak engine] in await engine?.lastFailure() }) {
            guard let result = await answer.value else {
                return .failure(StorageError(.cancelled, "The wait was cancelled. The write stays queued."))
            }
            return result.map { $0.acknowledgement(of: batch) }
        }
    }

    public func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        try await engine.checkServer()
        return try await driver.makeTransaction()
    }

    public func shutDown() async {
        await follower?.stop()
        if drainsAtEnd { await drain(within: Self.drainDeadline) }
        if let lost = await engine.writeCountInMemory, lost > 0 { await engine.tellOfLoss(lost) }
        await engine.shutDown()
        await driver.shutDown()
        claim?.release()
    }
}

extension ViewSnapshot {
    /// The view of a single document as that document.
    fileprivate func document(at path: StoragePath) -> DocumentSnapshot {
        let document = documents.first ?? .missing(path)
        return document.with(
            SnapshotMetadata(
                isFromCache: isFromCache, localState: document.metadata.localState, serverError: serverError))
    }
}

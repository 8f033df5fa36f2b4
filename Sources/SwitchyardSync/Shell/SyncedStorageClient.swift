import Foundation
public import Switchyard
import SwitchyardBytes
import Synchronization

/// Documents with a cache, live queries and a queue of writes, over whatever server a ``SyncDriver`` speaks to.
///
/// A write returns once it is kept on this device; its receipt tells what the server made of it. Streams show local writes at
/// once, survive lost connections, and say of each snapshot whether the server has confirmed it.
public final class SyncedStorageClient: StorageClient {
    public var provider: InfrastructureProvider { driver.provider }
    public let capabilities: StorageCapabilities
    public var clock: any Clock<Duration> { engine.clock }

    let driver: any SyncDriver
    package let engine: SyncEngine
    private let lastID = Atomic(0)
    let isNetworkEnabled = Mutex(true)
    private let entry = Mutex<@Sendable () async -> Void>({})

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
        self.init(
            driver: driver, storage: storage, claim: nil, userID: userID, clock: clock,
            now: now ?? { Timestamp(Date()) }, observer: observer)
    }

    /// - Parameters:
    ///   - claim: The storage's folder, where it has been taken already.
    ///   - chance: A number from 0 up to 1, anew at each call: pauses differ, so that not all devices come back at the same
    ///     moment.
    init(
        driver: any SyncDriver, storage: SyncStorage, claim: StoreClaim? = nil, userID: String?,
        clock: any Clock<Duration>, now: @escaping @Sendable () -> Timestamp,
        observer: any InfrastructureObserver = SilentObserver(),
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.driver = driver
        var capabilities = driver.capabilities
        capabilities.offline = true
        capabilities.liveStreams = true
        self.capabilities = capabilities
        engine = SyncEngine(
            driver: driver, policy: storage.policy, userID: userID, clock: clock, now: now, chance: chance,
            report: { [provider = driver.provider] kind in
                observer.observe(InfrastructureEvent(service: .storage, provider: provider, kind: kind))
            }
        ) { () throws(StorageError) in
            if let claim { return try SQLiteStore(claim) }
            return try storage.open()
        }
    }

    func newID() -> Int { lastID.add(1, ordering: .relaxed).newValue }

    /// To be called when another user signs in, or nobody is signed in any more. Each user has a queue of writes of
    /// their own; those of the one who left wait until they come back.
    public func setUser(_ userID: String?) async { await engine.setUser(userID) }

    /// What is to be done before each stream begins.
    func setEntry(_ body: @escaping @Sendable () async -> Void) { entry.withLock { $0 = body } }

    // MARK: Streams

    public func snapshots(
        of path: StoragePath, options: ListenOptions
    ) -> SnapshotStream<DocumentSnapshot, StorageError> {
        SnapshotStream { [self] continuation in
            listen(.document(path), options) { result in
                switch result {
                case .success(let snapshot): continuation.yield(snapshot.document(at: path))
                case .failure(let error): continuation.finish(throwing: error)
                }
            }
        }
    }

    public func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError> {
        SnapshotStream { [self] continuation in
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
        var wishes = ListenerOptions(
            includesMetadataChanges: options.includesMetadataChanges, readsCacheOnly: options.source == .cache)
        wishes.announcesConfirmation = true
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
        let prepare = entry.withLock { $0 }
        let entering = Task { [engine] in
            await prepare()
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
        try await commit(batch, of: nil)
    }

    /// - Parameter owner: Whose write it is; that of whoever the storage works for when left out.
    /// - Throws: `.sessionChanged` when the storage works for somebody else by now.
    func commit(_ batch: WriteBatch, of owner: QueueOwner?) async throws(StorageError) -> WriteReceipt {
        try checkBatch(batch)
        let (id, answer) = try await engine.write(batch.writes, of: owner)
        let isDelete = batch.writes.map { $0.operation == .delete }
        return WriteReceipt(batchID: id, lastFailure: { [weak engine] in await engine?.lastFailure() }) {
            guard let result = await answer.value else {
                return .failure(StorageError(.cancelled, "Nobody waits for the server any more."))
            }
            return result.map { result in
                let times = isDelete.enumerated().map { index, isDelete -> Timestamp? in
                    if isDelete { return nil }
                    let given = index < result.updateTimes.count ? result.updateTimes[index] : nil
                    return given ?? result.commitTime
                }
                return WriteReceipt.Acknowledgement(commitTime: result.commitTime, updateTimes: times)
            }
        }
    }

    public func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        try await checkServer()
        return try await driver.makeTransaction()
    }

    public func shutDown() async {
        await engine.shutDown()
        await driver.shutDown()
    }
}

extension ViewSnapshot {
    /// The view of a single document as that document.
    fileprivate func document(at path: StoragePath) -> DocumentSnapshot {
        let document = documents.first ?? .missing(path)
        return document.with(
            SnapshotMetadata(isFromCache: isFromCache, localState: document.metadata.localState))
    }
}

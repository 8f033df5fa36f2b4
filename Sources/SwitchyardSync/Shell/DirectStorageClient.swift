public import Switchyard
import SwitchyardBytes
import Synchronization

/// Documents with nothing kept between calls: no cache, no queue, no engine. Each call asks the server, and a write is done when
/// its call returns.
///
/// For servers, which act for many people at once: it costs a few hundred bytes, and nothing has to be ended. While streams are
/// open, they share one engine in memory, which goes with the last of them. Nobody can sign in again here: once the session is
/// over, streams end with `.unauthenticated`.
public final class DirectStorageClient: StorageClient {
    public let provider: InfrastructureProvider
    public let capabilities: StorageCapabilities
    public let clock: any Clock<Duration>
    private let driver: any SyncDriver
    private let observer: any InfrastructureObserver
    private let userID: String?
    private let live = Mutex<Live?>(nil)
    private let isShutDown = Atomic(false)

    /// The engine of the streams that are open.
    private struct Live {
        let client: SyncedStorageClient
        var streams: Int
    }

    /// How often a call is tried in all that the server did not answer, or asked to be made again.
    private static let attempts = 4
    private static let pauses = Backoff.Policy(initial: .milliseconds(200), factor: 2, maximum: .seconds(2))

    /// - Parameters:
    ///   - driver: Not ended with this client, since others may use what stands behind it.
    ///   - userID: Who acts; `nil` for nobody, and where the driver knows of no people.
    ///   - clock: What pauses are measured with.
    ///   - observer: Told of what streams meet on their way: lost connections, and repairs. Calls tell nothing; that is a layer's.
    public init(
        _ driver: any SyncDriver, userID: String? = nil, clock: any Clock<Duration> = ContinuousClock(),
        observer: any InfrastructureObserver = SilentObserver()
    ) {
        self.driver = driver
        self.observer = observer
        self.userID = userID
        self.clock = clock
        provider = driver.provider
        var capabilities = driver.capabilities
        capabilities.offline = false
        capabilities.liveStreams = true
        self.capabilities = capabilities
    }

    // MARK: Reading

    public func document(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        try await documents([path], from: source)[0]
    }

    public func documents(
        _ paths: [StoragePath], from source: ReadSource
    ) async throws(StorageError) -> [DocumentSnapshot] {
        for path in paths { try path.checked() }
        try check(source)
        guard !paths.isEmpty else { return [] }
        var seen = Set<StoragePath>()
        let unique = paths.filter { seen.insert($0).inserted }
        let found = try await patiently { [driver] () throws(StorageError) in try await driver.documents(unique) }
        let byPath = Dictionary(found.documents.map { ($0.path, $0) }) { first, _ in first }
        return paths.map { byPath[$0] ?? .missing($0) }
    }

    public func documents(_ query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        try query.checked()
        try check(source)
        let asked = QueryShape.live(query)
        let found = try await patiently { [driver] () throws(StorageError) in try await driver.results(of: asked) }
        let results = QueryEvaluator(query).results(among: found.documents)
        return QuerySnapshot(query: query, documents: results.map { $0.projected(for: query) })
    }

    public func aggregate(
        _ query: Query, _ aggregations: [Aggregation]
    ) async throws(StorageError) -> [DocumentValue] {
        try query.checked()
        return try await patiently { [driver] () throws(StorageError) in
            try await driver.aggregate(query, aggregations)
        }
    }

    public func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        try document?.checked()
        return try await patiently { [driver] () throws(StorageError) in try await driver.collections(under: document) }
    }

    public func dividers(ofGroup group: String, into count: Int) async throws(StorageError) -> [StoragePath] {
        try Query(group: group).checked()
        return try await patiently { [driver] () throws(StorageError) in
            try await driver.dividers(ofGroup: group, into: count)
        }
    }

    private static let over = StorageError(.shutDown, "The client was shut down.")

    private func checkOpen() throws(StorageError) {
        if isShutDown.load(ordering: .relaxed) { throw Self.over }
    }

    private func check(_ source: ReadSource) throws(StorageError) {
        if source == .cache { throw refusalOfCache }
    }

    private var refusalOfCache: StorageError {
        .unsupported("reading from a cache", by: provider, instead: "Read from the server; nothing is kept here.")
    }

    // MARK: Writing

    /// Returns once the server has taken the batch.
    ///
    /// - Throws: `.unavailable` where the server did not answer and it is not known whether it has taken a batch that would do
    ///   something else the second time.
    @discardableResult
    public func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        try checkBatch(batch)
        let id = RandomID.make()
        let result = try await send(batch, as: id)
        return WriteReceipt(batchID: id, acknowledged: result.acknowledgement(of: batch))
    }

    private func send(_ batch: WriteBatch, as id: String) async throws(StorageError) -> CommitResult {
        // What may have been done is asked for by its name, or done again where that changes nothing.
        let mayRepeat = driver.traits.hasLedger || batch.isIdempotent
        let isFirst = Atomic(true)
        return try await patiently(mayRepeat: mayRepeat) { [driver, userID] () throws(StorageError) in
            let wasSent = !isFirst.exchange(false, ordering: .relaxed)
            if wasSent, driver.traits.hasLedger, let known = try await driver.result(ofBatch: id) { return known }
            return try await driver.commit(
                OutgoingBatch(id: id, writes: batch.writes, mayHaveBeenSent: wasSent, userID: userID))
        }
    }

    public func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        try checkOpen()
        return try await driver.makeTransaction()
    }

    public func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        try document.checked()
        try checkRecursiveDelete()
        try checkOpen()
        return try await deleteRecursively(document, by: driver, progress)
    }

    // MARK: Trying again

    /// - Parameter mayRepeat: Whether a call may be made again that the server may have carried out.
    private func patiently<Result: Sendable>(
        mayRepeat: Bool = true, _ body: () async throws(StorageError) -> Result
    ) async throws(StorageError) -> Result {
        try checkOpen()
        let watch = Stopwatch(clock)
        var backoff = Backoff(Self.pauses, now: watch.now)
        var attempt = 1
        while true {
            do throws(StorageError) { return try await body() } catch {
                // Of an overloaded or conflicting call it is known that nothing was done.
                let isKnown = [.aborted, .resourceExhausted, .rateLimited].contains(error.code)
                // More attempts are the last thing that helps while this program asks for too much. And a driver has asked
                // with a new token already, where there is one.
                let isHopeless = error.code == .overloaded || error.code == .unauthenticated
                guard error.isRetryable, !isHopeless, mayRepeat || isKnown, attempt < Self.attempts,
                    !Task.isCancelled
                else {
                    throw error
                }
                attempt += 1
                var chance = SystemRandomNumberGenerator()
                let pause = backoff.next(now: watch.now, atLeast: error.retryAfter, using: &chance)
                guard pause <= .seconds(10), (try? await clock.sleep(for: pause)) != nil else { throw error }
            }
        }
    }

    // MARK: Streams

    public func snapshots(
        of path: StoragePath, options: ListenOptions
    ) -> SnapshotStream<DocumentSnapshot, StorageError> {
        if let mistake = path.mistake { return .failing(mistake) }
        return forward(options) { $0.snapshots(of: path, options: options) }
    }

    public func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError> {
        if let mistake = query.mistake { return .failing(mistake) }
        return forward(options) { $0.snapshots(of: query, options: options) }
    }

    private func forward<Element: Sendable>(
        _ options: ListenOptions,
        _ open: @escaping @Sendable (SyncedStorageClient) -> SnapshotStream<Element, StorageError>
    ) -> SnapshotStream<Element, StorageError> {
        if options.source == .cache { return .failing(refusalOfCache) }
        return SnapshotStream { [self] continuation in
            let reading = Task {
                guard let client = enter() else { return continuation.finish(throwing: Self.over) }
                do throws(StorageError) {
                    for try await snapshot in open(client) { continuation.yield(snapshot) }
                } catch {
                    continuation.finish(throwing: error)
                }
                await leave()
            }
            return { reading.cancel() }
        }
    }

    /// How many streams are open.
    package var openStreams: Int { live.withLock { $0?.streams ?? 0 } }

    private func enter() -> SyncedStorageClient? {
        live.withLock { live in
            guard !isShutDown.load(ordering: .relaxed) else { return nil }
            var present =
                live
                ?? Live(
                    client: SyncedStorageClient(ofOneSession: driver, clock: clock, observer: observer), streams: 0)
            present.streams += 1
            live = present
            return present.client
        }
    }

    private func leave() async {
        let last = live.withLock { live -> SyncedStorageClient? in
            live?.streams -= 1
            guard let present = live, present.streams == 0 else { return nil }
            live = nil
            return present.client
        }
        // The engine alone: the driver serves the next call.
        await last?.engine.shutDown()
    }

    /// Ends the streams that are open, and refuses later calls. The driver goes on serving others.
    public func shutDown() async {
        let client = live.withLock { live in
            isShutDown.store(true, ordering: .relaxed)
            defer { live = nil }
            return live?.client
        }
        await client?.engine.shutDown()
    }
}

public import Switchyard
import SwitchyardBytes
import Synchronization

/// Documents without local state: no cache, no queue, no engine. Each call asks the server, and a write is done when its call
/// returns.
///
/// For servers, which act for many users at once: it costs a few hundred bytes and needs no shutdown. Open streams share one
/// in-memory engine with those of all other clients with the same token; the engine ends with the last of them. Signing in
/// again is not possible: once the session has ended, streams end with `.unauthenticated`.
public final class DirectStorageClient: StorageClient {
    public let provider: InfrastructureProvider
    public let capabilities: StorageCapabilities
    public let clock: any Clock<Duration>
    private let driver: any SyncDriver
    private let observer: any InfrastructureObserver
    private let owner: SharedEngines.Owner
    private let engines: SharedEngines
    private let streams = Mutex(Streams())
    private let isShutDown = Atomic(false)

    /// The streams that this client has opened, which end with it.
    private struct Streams {
        struct OpenStream {
            let reading: Task<Void, Never>
            let end: @Sendable () -> Void
        }

        var open: [Int: OpenStream] = [:]
        var last = 0
    }

    /// The total number of attempts for a call that the server did not answer, or asked to repeat.
    private static let attempts = 6
    /// No attempt begins after this time. Drivers have their own patience with a server that is there.
    private static let patience = Duration.seconds(10)
    private static let pauses = Backoff.Policy(initial: .milliseconds(200), factor: 2, maximum: .seconds(2))

    /// - Parameters:
    ///   - driver: Not shut down with this client, since others may share its resources.
    ///   - token: The token that the driver uses; `nil` if the driver is the same for all users.
    ///   - userID: The acting user; `nil` if no one is signed in, or if the driver does not distinguish users.
    ///   - engines: Shared with other clients, whose drivers must behave the same with the same token.
    ///   - clock: The clock for pauses.
    ///   - observer: Receives events about streams: lost connections and reconnections. Calls report nothing; a layer does
    ///     that.
    public init(
        _ driver: any SyncDriver, token: Secret? = nil, userID: String? = nil,
        engines: SharedEngines = SharedEngines(), clock: any Clock<Duration> = ContinuousClock(),
        observer: any InfrastructureObserver = SilentObserver()
    ) {
        self.driver = driver
        self.observer = observer
        self.engines = engines
        owner = SharedEngines.Owner(token: token, userID: userID)
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
        let found = try await withRetries { [driver] () throws(StorageError) in try await driver.documents(unique) }
        let byPath = Dictionary(found.documents.map { ($0.path, $0) }) { first, _ in first }
        return paths.map { byPath[$0] ?? .missing($0) }
    }

    public func documents(_ query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        try query.checked()
        try check(source)
        let asked = QueryShape.live(query)
        let found = try await withRetries { [driver] () throws(StorageError) in try await driver.results(of: asked) }
        let results = query.results(in: found.documents, areDecided: found.areDecided)
        return QuerySnapshot(query: query, documents: results.projected(for: query), cut: found.cut(by: asked))
    }

    public func aggregate(
        _ query: Query, _ aggregations: [Aggregation]
    ) async throws(StorageError) -> [DocumentValue] {
        try query.checked()
        return try await withRetries { [driver] () throws(StorageError) in
            try await driver.aggregate(query, aggregations)
        }
    }

    public func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        try document?.checked()
        return try await withRetries { [driver] () throws(StorageError) in try await driver.collections(under: document)
        }
    }

    public func dividers(ofGroup group: String, into count: Int) async throws(StorageError) -> [StoragePath] {
        try Query(group: group).checked()
        return try await withRetries { [driver] () throws(StorageError) in
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

    /// Returns once the server has accepted the batch.
    ///
    /// - Throws: `.unavailable` if the server did not answer a batch that is not idempotent, so that it is not known whether
    ///   it took effect.
    @discardableResult
    public func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        // What the driver says of a batch that it cannot carry out is the more exact.
        try driver.check(batch.checked().writes)
        try checkBatch(batch)
        if batch.writes.contains(where: { driver.isProvisional($0.path) }) {
            return try await writer.add(batch, userID: owner.userID)
        }
        let id = RandomID.make()
        let result = try await send(batch, as: id)
        return WriteReceipt(batchID: id, acknowledged: result.acknowledgement(of: batch))
    }

    private func send(_ batch: WriteBatch, as id: String) async throws(StorageError) -> CommitResult {
        // A batch that may have taken effect is looked up by its name, or repeated if that changes nothing.
        let mayRepeat = driver.traits.hasLedger || batch.isIdempotent
        let isFirst = Atomic(true)
        return try await withRetries(mayRepeat: mayRepeat) { [driver = writer, owner] () throws(StorageError) in
            let wasSent = !isFirst.exchange(false, ordering: .relaxed)
            let outgoing = OutgoingBatch(
                id: id, writes: batch.writes, mayHaveBeenSent: wasSent, userID: owner.userID)
            if wasSent, driver.traits.hasLedger, let known = try await driver.result(of: outgoing) { return known }
            return try await driver.commit(outgoing)
        }
    }

    /// The driver for writes, so that streams with the same token see them at once.
    private var writer: any SyncDriver { engines.driver(of: owner) ?? driver }

    public func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        try checkOpen()
        return try await writer.makeTransaction()
    }

    public func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        try document.checked()
        try checkRecursiveDelete()
        try checkOpen()
        return try await deleteRecursively(document, by: writer, progress)
    }

    // MARK: Trying again

    /// - Parameter mayRepeat: Whether to repeat a call that the server may have carried out.
    private func withRetries<Result: Sendable>(
        mayRepeat: Bool = true, _ body: () async throws(StorageError) -> Result
    ) async throws(StorageError) -> Result {
        try checkOpen()
        let watch = Stopwatch(clock)
        var backoff = Backoff(Self.pauses, now: watch.now)
        var attempt = 1
        while true {
            do throws(StorageError) { return try await body() } catch {
                // An overloaded or conflicting call certainly had no effect.
                let isKnown = [.aborted, .resourceExhausted, .rateLimited].contains(error.code)
                // More attempts would not help while this program makes too many calls. And the driver has already retried
                // with a new token, if there is one.
                let isHopeless = error.code == .overloaded || error.code == .unauthenticated
                guard error.isRetryable, !isHopeless, mayRepeat || isKnown, attempt < Self.attempts,
                    watch.elapsed < Self.patience, !Task.isCancelled
                else {
                    throw error
                }
                attempt += 1
                var chance = SystemRandomNumberGenerator()
                let pause = backoff.next(now: watch.now, atLeast: error.retryAfter, using: &chance)
                guard pause <= Self.patience, (try? await clock.sleep(for: pause)) != nil else { throw error }
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
            let end: @Sendable () -> Void = { continuation.finish(throwing: Self.over) }
            let reading = streams.withLock { streams -> Task<Void, Never>? in
                guard !isShutDown.load(ordering: .relaxed) else { return nil }
                streams.last += 1
                let number = streams.last
                let reading = Task {
                    await read(open, continuation)
                    self.streams.withLock { _ = $0.open.removeValue(forKey: number) }
                }
                streams.open[number] = Streams.OpenStream(reading: reading, end: end)
                return reading
            }
            guard let reading else {
                end()
                return {}
            }
            return { reading.cancel() }
        }
    }

    private func read<Element: Sendable>(
        _ open: @Sendable (SyncedStorageClient) -> SnapshotStream<Element, StorageError>,
        _ continuation: SnapshotStream<Element, StorageError>.Continuation
    ) async {
        guard let client = engines.enter(owner, by: driver, clock: clock, observer: observer) else {
            return continuation.finish(throwing: Self.over)
        }
        do throws(StorageError) {
            for try await snapshot in open(client) { continuation.yield(snapshot) }
        } catch {
            continuation.finish(throwing: error)
        }
        await engines.leave(owner, client)
    }

    /// The number of open streams with the same token, here and elsewhere.
    package var openStreams: Int { engines.streamCount(of: owner) }

    /// Ends the streams opened here, and refuses later calls. The driver and other clients' streams continue.
    public func shutDown() async {
        let open = streams.withLock { streams in
            isShutDown.store(true, ordering: .relaxed)
            return Array(streams.open.values)
        }
        for stream in open { stream.end() }
        for stream in open { await stream.reading.value }
    }
}

extension DirectStorageClient: KeepsOwnCollections {
    package var ownCollections: Set<String> { driver.traits.ownCollections }
}

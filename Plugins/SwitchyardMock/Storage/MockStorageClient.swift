import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import Synchronization

/// Documents in memory, with all operations of a server: the reference for their meaning.
///
/// Several clients with one ``MockBackend`` are several devices of one project. While its network is off, a client answers from
/// its cache (what it has read, listened to or written), and its writes wait; see ``MockNetwork`` and ``disableNetwork()``.
///
/// If the server can be reached, a write is answered when `commit` returns. As in every client with a queue, a refusal is
/// delivered by the receipt and appears in ``refusedWrites()``; without the offline capability, `commit` throws it.
public final class MockStorageClient: StorageClient {
    public let provider: InfrastructureProvider = .mock
    public let capabilities: StorageCapabilities
    /// The network's clock.
    public var clock: any Clock<Duration> { controls.network.clock }
    /// Scripts and records the calls of this client.
    public let controls: MockControls<StorageError>

    let backend: MockBackend
    let device: MockDevice
    var database: MockDatabase { backend.database }
    let tenant: MockBackendLease?
    /// Reports when a user's data must be deleted; `nil` for a client without a user.
    let session: SessionSubscription?
    private let report: @Sendable (InfrastructureEvent.Kind) -> Void
    private let reachability: Once
    private let pause = Mutex<Task<Void, Never>?>(nil)

    /// The objects that a module adds to its clients.
    struct Options {
        var tenant: MockBackendLease?
        var session: SessionSubscription?
        var report: @Sendable (InfrastructureEvent.Kind) -> Void = { _ in }
    }

    init(
        _ backend: MockBackend, network: MockNetwork, capabilities: StorageCapabilities, _ device: MockDevice,
        _ options: Options
    ) {
        self.backend = backend
        tenant = options.tenant
        session = options.session
        report = options.report
        self.capabilities = capabilities
        controls = MockControls(
            network: network, unavailable: .mockIsOffline,
            cancelled: StorageError(.cancelled, "The call was cancelled."))
        device.isReachable = network.isOnline
        device.queue.clock = backend.database.now
        _ = device.queue.setConnection(isEnabled: device.isNetworkEnabled, isReachable: device.isReachable)
        self.device = device
        backend.database.attach(device)
        let relay = Relay()
        reachability = network.onChange { relay.client.withLock { $0.value }?.setReachable($0) }
        relay.client.withLock { $0.value = self }
    }

    deinit {
        reachability.run()
        session?.stop()
        database.detach(device)
    }

    public var unsentWrites: UnsentWrites? {
        get async {
            await session?.catchUp()
            return database.withState { [device] _ in
                let isOnDisk = device.keptAs != nil
                return UnsentWrites(
                    count: isOnDisk ? device.queue.pending.count : device.queue.countOfAll, isOnDisk: isOnDisk)
            }
        }
    }

    /// The number of open streams; 0 after all were left.
    public var listenerCount: Int { database.withState { [device] _ in device.listenerCount } }

    // MARK: Reading

    public func document(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        try path.checked()
        try check(source)
        await session?.catchUp()
        if !controls.isQuiet, let scripted = try await controls.enter(.document, path.rawValue) { return scripted }
        return try database.withState { [device] state in device.read(path, source, state.documents) }.get()
    }

    public func documents(
        _ paths: [StoragePath], from source: ReadSource
    ) async throws(StorageError) -> [DocumentSnapshot] {
        for path in paths { try path.checked() }
        try check(source)
        await session?.catchUp()
        let subject = paths.map(\.rawValue).joined(separator: ", ")
        if !controls.isQuiet, let scripted = try await controls.enter(.documents, subject) { return scripted }
        let results = database.withState { [device] state in paths.map { device.read($0, source, state.documents) } }
        var snapshots: [DocumentSnapshot] = []
        for result in results { snapshots.append(try result.get()) }
        return snapshots
    }

    public func documents(_ query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        try check(query)
        try check(source)
        await session?.catchUp()
        if !controls.isQuiet, let scripted = try await controls.enter(.query, query.subject) { return scripted }
        let (documents, isFromCache) = try found(query, source)
        return QuerySnapshot(
            query: query, documents: documents.projected(for: query),
            metadata: SnapshotMetadata(
                isFromCache: isFromCache, hasPendingWrites: documents.contains { $0.metadata.hasPendingWrites }))
    }

    public func aggregate(
        _ query: Query, _ aggregations: [Aggregation]
    ) async throws(StorageError) -> [DocumentValue] {
        let isPlain = aggregations.allSatisfy { $0 == .count }
        guard capabilities.aggregates || isPlain else {
            throw .unsupported("sums and averages", by: provider, instead: "Read the documents and compute.")
        }
        try check(query)
        await session?.catchUp()
        if !controls.isQuiet, let scripted = try await controls.enter(.aggregate, query.subject) { return scripted }
        return AggregateEvaluator.values(of: aggregations, over: try found(query, .server).documents)
    }

    public func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        try document?.checked()
        guard capabilities.listCollections else {
            throw .unsupported("listing collections", by: provider, instead: "Keep their names in a document.")
        }
        await session?.catchUp()
        let subject = document?.rawValue ?? ""
        if !controls.isQuiet, let scripted = try await controls.enter(.collections, subject) { return scripted }
        let found = database.withState { [device] state -> Result<[CollectionPath], StorageError> in
            if let refusal = device.refusal(of: .server) { return .failure(refusal) }
            let table = state.documents
            // A collection below a missing document counts, and so does one that has only deeper documents.
            var names: Set<CollectionPath> = []
            for collection in table.occupied { names.formUnion(collection.ancestor(under: document)) }
            return .success(names.sorted())
        }
        return try found.get()
    }

    public func dividers(ofGroup group: String, into count: Int) async throws(StorageError) -> [StoragePath] {
        let query = Query(group: group)
        try check(query)
        await session?.catchUp()
        if !controls.isQuiet, let scripted = try await controls.enter(.dividers, query.subject) { return scripted }
        let found = try found(query, .server).documents
        let parts = min(count, found.count)
        guard parts > 1 else { return [] }
        return (1..<parts).map { found[$0 * found.count / parts].path }
    }

    private func found(
        _ query: Query, _ source: ReadSource
    ) throws(StorageError) -> (documents: [DocumentSnapshot], isFromCache: Bool) {
        // The scan runs outside the lock, on an array shared with the table.
        let (documents, isFromCache) = try database.withState {
            [device] state -> Result<([DocumentSnapshot], Bool), StorageError> in
            if let refusal = device.refusal(of: source) { return .failure(refusal) }
            let isFromCache = source == .cache || !device.isConnected
            return .success((device.documents(for: query, state.documents, fromCache: isFromCache), isFromCache))
        }.get()
        let results = QueryEvaluator(query).results(among: documents)
        guard !isFromCache else { return (results, isFromCache) }
        let refusal = database.withState { [device] state -> StorageError? in
            if let refusal = device.refusal(toList: results, of: query, state.documents) { return refusal }
            for document in results {
                device.cache.store(state.documents[document.path] ?? .missing(document.path))
            }
            return nil
        }
        if let refusal { throw refusal }
        return (results, isFromCache)
    }

    private func check(_ source: ReadSource) throws(StorageError) {
        guard source == .cache, !capabilities.offline else { return }
        throw .unsupported("reading from a cache", by: provider, instead: "Read from the server.")
    }

    /// Refuses features that are not among the capabilities.
    func check(_ query: Query) throws(StorageError) {
        try query.checked()
        if case .group = query.source, !capabilities.collectionGroups {
            throw .unsupported("collection groups", by: provider, instead: "Query one collection.")
        }
        guard let filter = query.filter else { return }
        if !capabilities.alternatives, filter.hasAny {
            throw .unsupported("alternatives in a query", by: provider, instead: "Run one query for each.")
        }
        if !capabilities.negations, filter.conditions.contains(where: \.isNegation) {
            throw .unsupported("negative conditions", by: provider, instead: "Filter the results.")
        }
    }

    // MARK: Writing

    @discardableResult
    public func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        try checkBatch(batch)
        if !capabilities.versionPreconditions, batch.writes.contains(where: \.hasVersion) {
            throw .unsupported("preconditions on versions", by: provider, instead: "Use a transaction.")
        }
        if !capabilities.transforms, batch.writes.contains(where: { !$0.transforms.isEmpty }) {
            throw .unsupported("transforms", by: provider, instead: "Write the value that the field is to have.")
        }
        try await session?.catchUpToWrite()
        let writer = database.withState { [device] _ in device.queue.owner }
        if !controls.isQuiet, let scripted = try await controls.enter(.commit, batch.subject) { return scripted }
        let id = RandomID.make()
        let now = database.now()
        let receipt = try database.change { [device, controls, capabilities] state throws(StorageError) in
            if let refusal = device.refusal(of: .cache) { throw refusal }
            guard device.queue.owner == writer else { throw StorageError.writerLeft }
            guard device.isConnected, device.queue.isEmpty else {
                guard capabilities.offline else { throw StorageError.mockIsOffline }
                return device.enqueue(batch, id, now, state.documents)
            }
            let acknowledgement: WriteReceipt.Acknowledgement
            let actions: [DeliveryQueue.Action]
            do throws(StorageError) {
                (acknowledgement, actions) = try state.commit(batch.writes, id: id, at: now, by: device)
            } catch {
                guard capabilities.offline else { throw error }
                let refusal = RefusedWrite(id: id, batch: batch, refusedAt: now, error: error)
                return (
                    WriteReceipt(batchID: id, rejected: error),
                    device.queue.refuse(refusal) + [{ [report] in report(.refused(batch, error)) }]
                )
            }
            guard controls.losesAnswer() else {
                return (WriteReceipt(batchID: id, acknowledged: acknowledgement), actions)
            }
            let (receipt, more) = device.enqueue(batch, id, now, state.documents, hasTakenEffect: true)
            return (receipt, actions + more)
        }
        backend.save(device)
        sendQueue()
        return receipt
    }

    public func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        guard capabilities.transactions else {
            throw .unsupported("transactions", by: provider, instead: "Use a batch, or updates with a precondition.")
        }
        await session?.catchUp()
        let (refusal, owner) = database.withState { [device] _ in (device.refusal(of: .server), device.queue.owner) }
        if let refusal { throw refusal.ofTransaction }
        return MockTransaction(client: self, owner: owner)
    }

    // MARK: Sending the queue

    /// Starts sending the queue, unless that is already in progress. Offline, this counts as an attempt that fails at once.
    ///
    /// - Parameter isAsked: Whether a caller explicitly requested an attempt.
    func sendQueue(isAsked: Bool = false) {
        let (begins, fails) = database.withState { [device] _ -> (Bool, Bool) in
            guard !device.isShutDown, !device.queue.isEmpty else { return (false, false) }
            guard device.isConnected else { return (false, device.isNetworkEnabled) }
            guard !device.isSending else { return (false, false) }
            device.isSending = true
            return (true, false)
        }
        if begins { Task { await runQueue() } }
        if fails { failToSend(isAsked: isAsked) }
    }

    private func failToSend(isAsked: Bool) {
        let failedCount = database.change { [device] _ -> (Int?, [DeliveryQueue.Action]) in
            guard !device.isConnected, device.isNetworkEnabled else { return (nil, []) }
            let (isNewFailure, actions) = device.queue.failToSend(.mockIsOffline, isAsked: isAsked)
            return (isNewFailure ? device.queue.items.count : nil, actions)
        }
        if let failedCount { report(.pendingWrites(count: failedCount, failure: .init(StorageError.mockIsOffline))) }
        backend.save(device)
    }

    /// Ends the pause after a failure.
    func endPause() { pause.withLock { $0 }?.cancel() }

    private func runQueue() async {
        while let item = await next() {
            guard let failure = await send(item) else { continue }
            if !failure.isRefusal {
                await rest(after: failure, sending: item)
            } else {
                let now = database.now()
                database.change { [device] state in ((), device.refuse(item.id, failure, now, state.documents)) }
                report(.refused(item.batch, failure))
                backend.save(device)
            }
        }
    }

    /// Pauses before the next attempt, unless the write is no longer the current user's.
    private func rest(after failure: StorageError, sending item: MockWriteQueue.Item) async {
        let seconds = min(60, 1 << min(item.attempts - 1, 6))
        let (clock, now) = (controls.network.clock, database.now())
        let task = Task { _ = try? await clock.sleep(for: .seconds(seconds)) }
        // Before the failure is visible, so that a caller can then request the next attempt.
        pause.withLock { $0 = task }
        let next = Timestamp(clampingSeconds: now.seconds + Int64(seconds), nanoseconds: now.nanoseconds)
        let (isNewFailure, count, isOwn) = database.change {
            [device] _ -> ((Bool, Int, Bool), [DeliveryQueue.Action]) in
            let (isNewFailure, actions) = device.queue.putBack(item.id, failure, until: next)
            return ((isNewFailure, device.queue.items.count, device.queue.holds(item.id)), actions)
        }
        if isNewFailure { report(.pendingWrites(count: count, failure: .init(failure))) }
        if !isOwn { task.cancel() }
        await task.value
        pause.withLock { $0 = nil }
    }

    private func next() async -> MockWriteQueue.Item? {
        await session?.catchUp()
        return database.change { [device] _ in device.nextToSend() }
    }

    /// - Returns: Why the write has no answer, or is refused; `nil` if it was acknowledged, or not sent because another user
    ///   signed in meanwhile or it was discarded.
    private func send(_ item: MockWriteQueue.Item) async -> StorageError? {
        do throws(StorageError) {
            try await enterSending(item)
            let now = database.now()
            let isLost = try database.change { [device, controls] state throws(StorageError) in
                // The device acts for the user who is signed in now.
                guard device.queue.holds(item.id) else {
                    device.queue.setAside(item.id)
                    return (false, [])
                }
                guard device.isConnected else { throw StorageError.mockIsOffline }
                let isLost = controls.losesAnswer()
                if isLost { device.queue.markTakenEffect(item.id) }
                do throws(StorageError) {
                    let (_, actions) = try state.commit(
                        item.batch.writes, id: item.id, at: now, by: device, isAcknowledged: !isLost)
                    return (isLost, actions)
                } catch {
                    device.queue.markTakenEffect(item.id, false)
                    throw error.asRefusal()
                }
            }
            if isLost { return StorageError(.unavailable, "The answer was lost.") }
            backend.save(device)
            return nil
        } catch {
            return error
        }
    }

    /// A scripted failure counts as the server's refusal, unless no server could have sent it.
    private func enterSending(_ item: MockWriteQueue.Item) async throws(StorageError) {
        guard !controls.isQuiet else { return }
        do throws(StorageError) {
            _ = try await controls.enter(.send, item.batch.subject, needsNetwork: true)
        } catch {
            let isServers = !error.isRetryable && !Self.ownFailures.contains(error.code)
            throw isServers ? error.asRefusal() : error
        }
    }

    private static let ownFailures: Set<StorageError.Code> = [
        .cancelled, .shutDown, .unauthenticated, .localStore, .internal, .unknown,
    ]

    private func setReachable(_ isReachable: Bool) {
        let isRepaired = database.change { [device] state in
            let wasConnected = device.isConnected
            device.isReachable = isReachable
            let actions =
                device.connectionChanged(from: wasConnected, state.documents)
                + device.queue.setConnection(isEnabled: device.isNetworkEnabled, isReachable: isReachable)
            return (!wasConnected && device.isConnected && device.streamCount > 0, actions)
        }
        if isRepaired { report(.reconnect(operation: "live streams", attempt: 1, failure: nil)) }
        if !isReachable { backend.saveCache(of: device) }
        endPause()
        sendQueue()
    }

    /// Connects listeners to the client without retaining it; they may be created before it.
    final class Relay: Sendable {
        struct Reference { weak var value: MockStorageClient? }
        let client = Mutex(Reference())
    }
}

extension InfrastructureEvent.Kind {
    fileprivate static func refused(_ batch: WriteBatch, _ error: StorageError) -> InfrastructureEvent.Kind {
        .writeRefused(paths: batch.writes.map(\.path.rawValue), failure: .init(error))
    }
}

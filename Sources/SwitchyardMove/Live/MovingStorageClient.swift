public import Switchyard
import SwitchyardBytes
import Synchronization

/// A storage client during a move: it serves from the old backend, then from the new one, as the move's phase says.
///
/// Calls, receipts and live streams work as on each backend alone. Every write is logged in the same batch on the backend that
/// serves, and ``LiveMove`` carries it to the other. When the phase changes sides, this client first waits until everything
/// that it has written is on the other side, so its own writes keep their order; new writes wait for that for a moment. Until
/// then it goes on where it is: no call fails because of the move.
///
/// Use it in an infrastructure by ``MovingModule``. Both backends need batches of any writes, transactions, and documents in
/// any collection.
public final class MovingStorageClient: RoutedStorageClient {
    public let route: Route<any StorageClient>
    let clients: Sides<any StorageClient>
    let logged: Sides<LoggedStorageClient>
    private let board: Switchboard<any StorageClient>
    private let log: MoveLog
    let feed: PhaseFeed
    let gate = WriteGate()
    let shadow: ShadowReads
    private let report: @Sendable (String) -> Void
    private let state = Mutex(State())

    private struct State {
        var side = MoveSide.old
        var followers: [Int: @Sendable (MoveSide) -> Void] = [:]
        var lastFollower = 0
    }

    /// How long new writes are held while this device changes sides, before it tries again later.
    static let longestHold = Duration.seconds(5)

    /// - Parameters:
    ///   - old: The backend that the documents are on.
    ///   - new: The backend that they move to.
    ///   - name: The move's name, the same on all devices.
    ///   - observer: Told of reads that differ, and of the change of sides.
    /// - Throws: `.unsupported` if one of the backends cannot take part.
    public convenience init(
        old: any StorageClient, new: any StorageClient, name: String,
        observer: any InfrastructureObserver = SilentObserver()
    ) throws(MoveError) {
        try self.init(Sides(old: old, new: new), try MoveLayout(name), observer)
    }

    init(
        _ clients: Sides<any StorageClient>, _ layout: MoveLayout, _ observer: any InfrastructureObserver
    ) throws(MoveError) {
        for side in MoveSide.allCases { try Self.check(clients[side]) }
        self.clients = clients
        log = MoveLog(layout)
        let feed = PhaseFeed(clients, layout, clock: clients.old.clock)
        self.feed = feed
        let log = log
        let logged = Sides(
            old: LoggedStorageClient(base: clients.old, side: .old, log: log, feed: feed),
            new: LoggedStorageClient(base: clients.new, side: .new, log: log, feed: feed))
        self.logged = logged
        board = Switchboard(to: logged.old)
        route = Route(through: board)
        let provider = clients.old.provider
        report = { text in
            observer.observe(InfrastructureEvent(service: .storage, provider: provider, kind: .notice(text)))
        }
        shadow = ShadowReads(clients, report: report)
        feed.start { [weak self] control in
            observer.observe(move: layout.name, phase: control.phase.rawValue, provider)
            await self?.followPhase()
        }
    }

    deinit { feed.stop() }

    static func check(_ client: any StorageClient) throws(MoveError) {
        let capabilities = client.capabilities
        guard capabilities.mixedBatches, capabilities.transactions, capabilities.openSchema else {
            throw MoveError(
                .unsupported,
                "“\(client.provider)” cannot take part in a live move: it needs batches of any writes, transactions and "
                    + "documents in any collection, for the log of what is still to be carried over. On Supabase, run "
                    + "“switchyard supabase install --documents”, or move without devices writing meanwhile by “switchyard move run”."
            )
        }
    }

    /// The phase as this device knows it.
    public var phase: MovePhase { feed.control.phase }
    /// The side that this device uses: that of ``phase``, as soon as everything this device wrote before is there.
    public var serving: MoveSide { state.withLock(\.side) }
    /// How many reads were compared in ``MovePhase/shadowRead``, and how many differed.
    public var comparedReads: (count: Int, differences: Int) { shadow.counts }

    // MARK: Changing sides

    /// Returns when this device is on the side that the newest phase names.
    private func followPhase() async {
        var pause = Duration.milliseconds(200)
        while !Task.isCancelled, let from = staleSide {
            do throws(StorageError) {
                // First without holding anyone up, for it may take as long as a queue.
                try await carryOver(from)
                if await change(from) { return }
            } catch {
                // Without a connection, or without the process that carries over, this device stays where it is.
                if error.code == .shutDown { return }
                if !error.isRetryable {
                    report("This device cannot change to the \(from.other) side of the move yet: \(error.message)")
                }
            }
            try? await clock.sleep(for: pause)
            pause = min(pause * 2, .seconds(30))
        }
    }

    /// The side in use, if the phase names the other one.
    var staleSide: MoveSide? {
        let side = serving
        return feed.control.phase.serving == side ? nil : side
    }

    /// Returns when everything that this device has written to `side` is on the other, in that order.
    private func carryOver(_ side: MoveSide) async throws(StorageError) {
        let barrier = try log.barrier()
        let client = clients[side]
        try await client.commit(WriteBatch([barrier])).acknowledged()
        var pause = Duration.milliseconds(20)
        while try await client.document(barrier.path, from: .server).exists {
            do { try await clock.sleep(for: pause) } catch { throw StorageError(.cancelled, "The call was cancelled.") }
            pause = min(pause * 2, .seconds(1))
        }
    }

    /// Changes to the other side while new writes are held.
    ///
    /// - Returns: Whether it was done; not if this would have held the writes for too long.
    private func change(_ from: MoveSide) async -> Bool {
        defer { gate.open() }
        let isCarried = await withTaskGroup(of: Bool.self) { group in
            group.addTask { [self] in
                guard await gate.hold() else { return false }
                return (try? await carryOver(from)) != nil
            }
            group.addTask { [clock] in
                try? await clock.sleep(for: Self.longestHold)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        guard isCarried, staleSide == from else { return false }
        let to = from.other
        board.connect(to: logged[to])
        let followers = state.withLock { state in
            state.side = to
            return Array(state.followers.values)
        }
        for follower in followers { follower(to) }
        report("This device now uses the \(to) side of the move “\(log.layout.name)”.")
        return true
    }

    /// Calls `follower` with the side in use, now and after each change, until the returned closure is called.
    func onChange(_ follower: @escaping @Sendable (MoveSide) -> Void) -> @Sendable () -> Void {
        let (id, side) = state.withLock { state in
            state.lastFollower += 1
            state.followers[state.lastFollower] = follower
            return (state.lastFollower, state.side)
        }
        follower(side)
        return { [weak self] in self?.state.withLock { _ = $0.followers.removeValue(forKey: id) } }
    }

    /// Logs that a file is, or has been, changed on the side in use.
    func logFile(_ file: FilePath, id: String, isOpen: Bool) async throws(StorageError) {
        let entry = try log.entry(for: file, id: id, isOpen: isOpen)
        try await gate.pass { () async throws(StorageError) in
            try await clients[serving].commit(WriteBatch([entry]))
        }.acknowledged()
    }

    func newEntryID() -> String { log.newID() }

    /// Another client of the side in use, such as that of one request: its writes are logged and held as those of this one.
    func logging(_ client: any StorageClient) -> any StorageClient {
        GatedStorageClient(
            base: LoggedStorageClient(base: client, side: serving, log: log, feed: feed), gate: gate)
    }
}

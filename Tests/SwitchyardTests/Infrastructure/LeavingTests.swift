import SwitchyardBytes
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import Switchyard

/// What becomes of a client that was exchanged: its calls, its queue, and its network.
@Suite(.timeLimit(.minutes(1))) struct LeavingTests {
    private let clock = ManualClock()
    private let west = MockSide<WestSide>()

    private func backend(_ east: MockSide<EastSide>, _ west: MockSide<WestSide>? = nil) async throws -> Infrastructure {
        try await InfrastructureFactory(east, west ?? self.west).make(
            InfrastructureSelection(default: "east"), in: InfrastructureOptions(clock: clock))
    }

    private func isStored(_ path: StoragePath, on backend: MockBackend) async throws -> Bool {
        try await MockStorageClient(backend).document(path).exists
    }

    @Test func `A receipt that no one asks holds nothing up, and knows its answer afterwards`() async throws {
        let backend = try await backend(MockSide<EastSide>())
        let receipt = try await backend.storage.setDocument("notes/a", ["n": 1])
        let report = try await backend.use("west", for: .storage)
        // The clock of the deadline does not move.
        #expect(await report.drained() == SwitchReport.Drained(abandonedCalls: 0, leftWrites: []))
        try await receipt.acknowledged()
        await backend.shutDown()
    }

    @Test func `A switch returns while a call is under way on the old client, which ends only after it`() async throws {
        let calls = ManualClock()
        var east = MockSide<EastSide>()
        east.network = MockNetwork(clock: calls)
        try await MockStorageClient(east.backend).setDocument("notes/a", ["n": 1])
        let backend = try await backend(east)
        east.network.latency = .seconds(5)
        let reading = Task { try await backend.storage.document("notes/a") }
        try await eventually("the read is under way") { calls.sleeperCount == 1 }
        let report = try await backend.use("west", for: .storage)
        #expect(try await !backend.storage.document("notes/a").exists)
        calls.advance(by: .seconds(5))
        #expect(try await reading.value.exists)
        #expect(await report.drained().abandonedCalls == 0)
        await backend.shutDown()
    }

    @Test func `What a call under way has queued is counted in the end`() async throws {
        let calls = ManualClock()
        var east = MockSide<EastSide>()
        east.network = MockNetwork(clock: calls)
        let backend = try await backend(east)
        east.network.latency = .seconds(5)
        let writing = Task { _ = try await backend.storage.commit(WriteBatch([.set("notes/a", ["n": 1])])) }
        try await eventually("the write is under way") { calls.sleeperCount == 1 }
        let report = try await backend.use("west", for: .storage)
        #expect(report.leftWrites.isEmpty)
        (east.network.isOnline, east.network.latency) = (false, .zero)
        calls.advance(by: .seconds(5))
        try await writing.value
        let clock = clock
        let draining = Task { await report.drained() }
        try await eventually("its queue is waited for") { clock.sleeperCount >= 1 }
        clock.advance(by: .seconds(30))
        #expect(
            await draining.value
                == SwitchReport.Drained(
                    abandonedCalls: 0,
                    leftWrites: [SwitchReport.LeftWrites(provider: "east", count: 1, isOnDisk: false)]))
        await backend.shutDown()
    }

    @Test func `A queue in memory is sent when it can be, also after the deadline`() async throws {
        let east = MockSide<EastSide>()
        let backend = try await backend(east)
        east.network.isOnline = false
        try await backend.storage.setDocument("notes/a", ["n": 1])
        let report = try await backend.use("west", for: .storage)
        #expect("\(report)".hasSuffix("; 1 write left on east (kept in memory)"))
        #expect("\(report)".hasPrefix("storage: east → west; "))
        let clock = clock
        try await eventually("its queue is waited for") { clock.sleeperCount >= 1 }
        clock.advance(by: .seconds(30))
        #expect(await report.drained().leftWrites.map(\.count) == [1])
        #expect(try await !isStored("notes/a", on: east.backend))
        east.network.isOnline = true
        try await eventually("it is sent") { try await isStored("notes/a", on: east.backend) }
        await backend.shutDown()
    }

    @Test func `A client that is wanted back before it is done comes back with its queue`() async throws {
        let east = MockSide<EastSide>()
        let backend = try await backend(east)
        east.network.isOnline = false
        try await backend.storage.setDocument("notes/a", ["n": 1])
        try await backend.use("west", for: .storage)
        let report = try await backend.use("east", for: .storage)
        #expect(report.leftWrites.isEmpty)
        #expect(east.storageClients.count == 1)
        #expect(try await backend.storage.document("notes/a").exists)
        east.network.isOnline = true
        try await backend.storage.waitForPendingWrites()
        #expect(try await isStored("notes/a", on: east.backend))
        await report.drained()
        try await backend.storage.setDocument("notes/b", ["n": 1])
        await backend.shutDown()
    }

    @Test func `A client that is wanted back is not shut down while others of the change are being made`() async throws
    {
        let calls = ManualClock()
        let left = Mutex<SwitchReport?>(nil)
        var east = MockSide<EastSide>()
        east.network = MockNetwork(clock: calls)
        var west = west
        west.makingAuth = { [network = east.network] in
            // The last call on the storage that left ends now, and with it the wait for it.
            network.latency = .zero
            calls.advance(by: .seconds(5))
            _ = await left.withLock { $0 }?.drained()
        }
        let backend = try await backend(east, west)
        east.network.latency = .seconds(5)
        let reading = Task { try await backend.storage.document("notes/a") }
        try await eventually("the read is under way") { calls.sleeperCount == 1 }
        let report = try await backend.use("west", for: .storage)
        left.withLock { $0 = report }
        var crossed = InfrastructureSelection(default: "west")
        crossed.storage = "east"
        try await backend.use(crossed)
        _ = try await reading.value
        #expect(east.storageClients.count == 1)
        try await backend.storage.setDocument("notes/a", ["n": 1]).acknowledged()
        await backend.shutDown()
    }

    @Test func `A network that is being switched off while the storage changes is off on the new one, too`()
        async throws
    {
        let gate = Gate()
        var east = MockSide<EastSide>()
        east.around = { SlowSwitch(base: $0, gate: gate) }
        let backend = try await backend(east)
        let switching = Task { try await backend.storage.disableNetwork() }
        try await eventually("the old storage is notified") { gate.waiting == 1 }
        try await backend.use("west", for: .storage)
        gate.open()
        try await switching.value
        try await backend.storage.setDocument("notes/b", ["n": 1])
        #expect(try await backend.storage.pendingWrites().newest().count == 1)
        #expect(try await !isStored("notes/b", on: west.backend))
        try await backend.storage.enableNetwork()
        try await backend.storage.waitForPendingWrites()
        #expect(try await isStored("notes/b", on: west.backend))
        await backend.shutDown()
    }

    @Test func `A storage that refuses to go offline leaves the network on for the next one`() async throws {
        var east = MockSide<EastSide>()
        east.isOffline = false
        let backend = try await backend(east)
        let error = await #expect(throws: StorageError.self) { try await backend.storage.disableNetwork() }
        #expect(error?.code == .unsupported)
        try await backend.use("west", for: .storage)
        try await backend.storage.setDocument("notes/b", ["n": 1]).acknowledged()
        await backend.shutDown()
    }

    @Test func `A network that was switched off stays off over a switch, and comes back for all`() async throws {
        let east = MockSide<EastSide>()
        let backend = try await backend(east)
        try await backend.storage.disableNetwork()
        try await backend.storage.setDocument("notes/a", ["n": 1])
        try await backend.use("west", for: .storage)
        try await backend.storage.setDocument("notes/b", ["n": 1])
        #expect(try await !isStored("notes/b", on: west.backend))
        try await backend.storage.enableNetwork()
        try await backend.storage.waitForPendingWrites()
        #expect(try await isStored("notes/b", on: west.backend))
        try await eventually("what was left is sent too") { try await isStored("notes/a", on: east.backend) }
        await backend.shutDown()
    }

    @Test func `Observers are notified of the network only what the app has said`() async throws {
        let log = EventLog()
        let backend = try await InfrastructureFactory(MockSide<EastSide>(), west).make(
            InfrastructureSelection(default: "east"), in: InfrastructureOptions(clock: clock, observer: log))
        try await backend.storage.disableNetwork()
        try await backend.use("west", for: .storage)
        try await backend.use("west", for: .auth)
        try await backend.storage.enableNetwork()
        #expect(log.calls.filter { $0.contains("network") } == ["storage: disable network", "storage: enable network"])
        await backend.shutDown()
    }

    @Test func `A storage that cannot do without the network is refused while it is switched off`() async throws {
        var west = west
        west.isOffline = false
        let backend = try await backend(MockSide<EastSide>(), west)
        try await backend.storage.disableNetwork()
        let error = await #expect(throws: InfrastructureError.self) { try await backend.use("west", for: .storage) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("enableNetwork()") == true)
        #expect(await backend.selection.provider(for: .storage) == "east")
        try await backend.storage.enableNetwork()
        try await backend.use("west", for: .storage)
        await backend.shutDown()
    }
}

/// A storage that takes its time to go offline.
private struct SlowSwitch: StorageClientWrapper {
    let base: any StorageClient
    let gate: Gate

    func disableNetwork() async throws(StorageError) {
        await gate.wait()
        try await base.disableNetwork()
    }
}

extension SnapshotStream {
    fileprivate func newest() async throws -> Element {
        for try await element in self { return element }
        throw StorageError(.internal, "A stream without a first element.")
    }
}

import Switchyard
import SwitchyardBytes
import SwitchyardConformance
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSync

/// Nothing is sent once the network is switched off, whatever was about to be.
@Suite(.timeLimit(.minutes(2))) struct SwitchedOffTests {
    /// Looks into the ledger only when it is let, and counts commits.
    private final class HeldDriver: ForwardingDriver {
        let base: ModelDriver
        let ledger = Gate(isOpen: true)
        let answers = Gate(isOpen: true)
        let losesRequests = Mutex(false)
        let lookUps = Mutex(0)
        let commits = Mutex<[String]>([])

        init(_ server: ModelServer) { base = ModelDriver(server) }

        func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
            commits.withLock { $0.append(batch.id) }
            if losesRequests.withLock({ $0 }) { throw StorageError(.unavailable, "The request was lost.") }
            let result = try await base.commit(batch)
            await answers.wait()
            return result
        }

        func result(of batch: OutgoingBatch) async throws(StorageError) -> CommitResult? {
            lookUps.withLock { $0 += 1 }
            let result = try await base.result(of: batch)
            await ledger.wait()
            return result
        }
    }

    private let server = ModelServer()
    private let driver: HeldDriver
    private let client: SyncedStorageClient

    init() {
        driver = HeldDriver(server)
        client = SyncedStorageClient(
            SyncEngine(
                driver, .memory, userID: "alice", clock: FastClock(), now: { Timestamp(microseconds: 77_000_000) },
                chance: { 0.5 }))
    }

    private var commits: [String] { driver.commits.withLock { $0 } }

    /// Queues a batch whose fate the ledger is being asked for.
    private func queueDoubtfulBatch() async throws -> String {
        driver.losesRequests.withLock { $0 = true }
        driver.ledger.close()
        let id = try await client.setDocument("rooms/a", ["n": 1]).batchID
        try await eventually("the ledger is asked") { [driver] in driver.ledger.waiting == 1 }
        return id
    }

    @Test func `A batch whose fate is looked up meanwhile is not sent`() async throws {
        let id = try await queueDoubtfulBatch()
        let before = commits.count
        try await client.disableNetwork()
        driver.losesRequests.withLock { $0 = false }
        driver.ledger.open()
        try await eventually("the look-up has ended") { [client] in await !client.engine.isCommitting }
        #expect(commits.count == before)
        #expect(try await client.queue.map(\.id) == [id])
        try await client.enableNetwork()
        try await client.waitForPendingWrites()
        #expect(commits.count == before + 1)
        #expect(server.documents.map(\.path) == ["rooms/a"])
        await client.shutDown()
    }

    @Test func `What waits behind a request on its way is not sent, and not looked up later`() async throws {
        driver.answers.close()
        try await client.setDocument("rooms/a", ["n": 1])
        try await client.setDocument("rooms/b", ["n": 2])
        try await eventually("the first is sent") { [driver] in driver.answers.waiting == 1 }
        try await client.disableNetwork()
        driver.answers.open()
        try await eventually("the answer is there") { [client] in await !client.engine.isCommitting }
        #expect(commits.count == 1)
        #expect(await client.engine.unsentBatchIDs.count == 1)
        try await client.enableNetwork()
        try await client.waitForPendingWrites()
        #expect(commits.count == 2, "the ledger knows the first")
        #expect(driver.lookUps.withLock { $0 } == 1)
        #expect(await client.engine.unsentBatchIDs.isEmpty)
        await client.shutDown()
    }

    @Test(arguments: [true, false])
    func `Nothing is remembered of batches that were deleted, or that belong to somebody else`(
        isWipe: Bool
    ) async throws {
        driver.answers.close()
        for number in 0..<5 { try await client.setDocument(StoragePath("rooms", "\(number)"), ["n": 1]) }
        try await eventually("the first is sent") { [driver] in driver.answers.waiting == 1 }
        try await client.disableNetwork()
        #expect(await client.engine.unsentBatchIDs.count == 4)
        if isWipe { try await client.wipe() } else { await client.setUser("bob") }
        driver.answers.open()
        try await eventually("the answer is there") { [client] in await !client.engine.isCommitting }
        #expect(await client.engine.unsentBatchIDs.isEmpty)
        await client.setUser("alice")
        try await client.enableNetwork()
        try await client.waitForPendingWrites()
        #expect(server.documents.count == (isWipe ? 1 : 5))
        await client.shutDown()
    }

    @Test func `The gate lets only the present generation pass`() throws {
        let gate = SendingGate()
        gate.open(for: 3)
        try gate.pass(3)
        let error = #expect(throws: StorageError.self) { try gate.pass(2) }
        #expect(error?.underlying is SendingGate.IsClosed)
        gate.open(for: 4)
        #expect(throws: StorageError.self) { try gate.pass(3) }
    }
}

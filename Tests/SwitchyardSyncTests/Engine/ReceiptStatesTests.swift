import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardConformance
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSync

/// The way of a write to the server, as its receipt tells it.
@Suite(.timeLimit(.minutes(2))) struct ReceiptStatesTests {
    /// Holds answers back, and fails as a test wants it to.
    private final class HeldDriver: ForwardingDriver {
        let base: ModelDriver
        let requests = Gate(isOpen: true)
        let failure = Mutex<StorageError?>(nil)

        init(_ server: ModelServer) { base = ModelDriver(server) }

        func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
            await requests.wait()
            if let failure = failure.withLock({ $0 }) { throw failure }
            return try await base.commit(batch)
        }
    }

    private let driver: HeldDriver
    private let client: SyncedStorageClient

    init() {
        driver = HeldDriver(ModelServer())
        client = SyncedStorageClient(driver: driver, clock: FastClock())
    }

    /// Follows a write that is on its way until the gate opens.
    private func heldWrite() async throws -> (WriteReceipt, EventStream<WriteReceipt.State, Never>) {
        driver.requests.close()
        let receipt = try await client.setDocument("rooms/a", ["n": 1])
        try await eventually("the request is under way") { [driver] in driver.requests.waiting == 1 }
        return (receipt, await receipt.states.begun())
    }

    @Test func `A write is sent while the server has not answered, and acknowledged then`() async throws {
        let (receipt, states) = try await heldWrite()
        let second = try await client.setDocument("rooms/b", ["n": 2])
        let behind = await second.states.begun()
        driver.requests.open()
        let answer = try await receipt.acknowledged()
        #expect(await states.all == [.sent, .acknowledged(answer)])
        #expect(await behind.all == [.local, .sent, .acknowledged(try await second.acknowledged())])
        await client.shutDown()
    }

    @Test func `A failed attempt leads back to this device, however often`() async throws {
        let (receipt, states) = try await heldWrite()
        driver.failure.withLock { $0 = StorageError(.unavailable, "No network.") }
        driver.requests.open()
        try await eventually("two attempts have failed") { [client] in
            try await client.queue.first?.attempts ?? 0 >= 2
        }
        driver.failure.withLock { $0 = nil }
        let answer = try await receipt.acknowledged()
        let all = await states.all
        #expect(all.prefix(4) == [.sent, .local, .sent, .local] && all.suffix(2) == [.sent, .acknowledged(answer)])
        await client.shutDown()
    }

    @Test func `Switching the network off takes a write back to this device`() async throws {
        let (_, states) = try await heldWrite()
        try await client.disableNetwork()
        driver.failure.withLock { $0 = StorageError(.unavailable, "No network.") }
        driver.requests.open()
        try await eventually("the request is over") { [client] in await !client.engine.isCommitting }
        driver.failure.withLock { $0 = nil }
        try await client.enableNetwork()
        try await client.waitForPendingWrites()
        let all = await states.all
        #expect(all.prefix(3) == [.sent, .local, .sent] && all.last?.isFinal == true)
        await client.shutDown()
    }

    @Test func `A rejected write ends with the server's reason`() async throws {
        let receipt = try await client.updateDocument("rooms/missing", ["n": 1])
        let error = await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
        #expect(await receipt.states.all == [.rejected(try #require(error))])
        await client.shutDown()
    }

    @Test func `While the server is away, what may be merged takes the place of what was not tried`() async throws {
        let typing = client.mergingWaitingWrites()
        driver.failure.withLock { $0 = StorageError(.unavailable, "No network.") }
        var receipts = [try await typing.setDocument("rooms/a", ["n": 0, "text": ""])]
        try await eventually("it was tried") { [client] in try await client.queue.first?.attempts ?? 0 > 0 }
        try await client.disableNetwork()
        for n in 1...5 { receipts.append(try await typing.updateDocument("rooms/a", ["n": .of(n)])) }
        #expect(try await client.queue.map(\.id) == [receipts[0].batchID, receipts[5].batchID])
        for n in 1...4 { #expect(await receipts[n].states.all == [.superseded(by: receipts[n + 1].batchID)]) }
        let waiting = Task { [client] in try await client.waitForPendingWrites() }
        receipts.append(try await typing.updateDocument("rooms/a", ["text": "end"]))
        driver.failure.withLock { $0 = nil }
        try await client.enableNetwork()
        try await waiting.value
        var answers: [WriteReceipt.Acknowledgement] = []
        for receipt in receipts { answers.append(try await receipt.acknowledged()) }
        #expect(Set(answers.dropFirst().map(\.commitTime)).count == 1 && answers[0].commitTime < answers[1].commitTime)
        let document = try await client.document("rooms/a", from: .server)
        #expect(document["n"] == 5 && document["text"] == "end")
        #expect(try await client.queue.isEmpty)
        await client.shutDown()
    }

    @Test func `A merged write is on disk, and sent by the next client`() async throws {
        let folder = ScratchSpace.url.appendingPathComponent("merged-\(UInt64.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = ModelServer()
        let first = device(server, .folder(folder))
        try await first.disableNetwork()
        let typing = first.mergingWaitingWrites()
        let earlier = try await typing.setDocument("rooms/a", ["n": 1, "text": "a"])
        let later = try await typing.updateDocument("rooms/a", ["n": 2])
        await first.shutDown()
        let error = await #expect(throws: StorageError.self) { try await earlier.acknowledged() }
        #expect(error?.code == .shutDown)
        let second = device(server, .folder(folder))
        // A batch of an earlier run is left as it is: it is not known whether it may be merged.
        try await second.disableNetwork()
        let last = try await second.mergingWaitingWrites().updateDocument("rooms/a", ["text": "b"])
        #expect(try await second.queue.map(\.id) == [later.batchID, last.batchID])
        try await second.enableNetwork()
        try await second.waitForPendingWrites()
        let document = try await second.document("rooms/a", from: .server)
        #expect(document["n"] == 2 && document["text"] == "b")
        await second.shutDown()
    }

    @Test func `A client that is shut down leaves the state open`() async throws {
        try await client.disableNetwork()
        let receipt = try await client.setDocument("rooms/a", ["n": 1])
        let states = await receipt.states.begun()
        await client.shutDown()
        #expect(await states.all == [.local])
    }

    @Test func `What is wiped is taken back`() async throws {
        try await client.disableNetwork()
        let receipt = try await client.setDocument("rooms/a", ["n": 1])
        let states = await receipt.states.begun()
        try await client.wipe()
        #expect(await states.all.last?.isFinal == true)
        let error = await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
        #expect(await receipt.states.all == [.rejected(try #require(error))])
        await client.shutDown()
    }
}

/// The status of an engine.
@Suite(.timeLimit(.minutes(2))) struct SyncStatusTests {
    private let server = ModelServer()
    private let driver: FailingDriver
    private let client: SyncedStorageClient

    init() {
        driver = FailingDriver(server)
        client = SyncedStorageClient(
            driver: driver, clock: FastClock(), now: { Timestamp(microseconds: 77_000_000) })
    }

    private func status(_ what: String, where isWanted: @escaping @Sendable (SyncStatus) -> Bool) async throws
        -> SyncStatus
    {
        for await status in client.syncStatus() where isWanted(status) { return status }
        throw StorageError(.internal, "The status ended before \(what).")
    }

    @Test func `At first nothing is known, and nothing waits`() async throws {
        let first = try await status("the first") { _ in true }
        #expect(first == SyncStatus())
        await client.shutDown()
    }

    @Test func `A server that answers is online, and the time of its answer is kept`() async throws {
        try await client.setDocument("rooms/a", ["n": 1]).acknowledged()
        let synced = try await status("the answer") { $0.isOnline == true && !$0.isWorking }
        #expect(synced.pendingCount == 0 && synced.firstError == nil)
        #expect(synced.lastSynced == Timestamp(microseconds: 77_000_000))
        await client.shutDown()
    }

    @Test func `A server that does not answer is offline, and the oldest write says why`() async throws {
        let error = StorageError(.unavailable, "No network.")
        driver.failure.withLock { $0 = error }
        let receipt = try await client.setDocument("rooms/a", ["n": 1])
        try await client.setDocument("rooms/b", ["n": 1])
        let stuck = try await status("the failure") { $0.isOnline == false && $0.firstError != nil }
        #expect(stuck.pendingCount == 2 && stuck.oldestPending?.id == receipt.batchID && stuck.firstError == error)
        #expect(stuck.lastSynced == nil)
        driver.failure.withLock { $0 = nil }
        try await client.retryPendingWrites()
        let synced = try await status("the answer") { $0.pendingCount == 0 && !$0.isWorking }
        #expect(synced.isOnline == true && synced.firstError == nil && synced.oldestPending == nil)
        await client.shutDown()
    }

    @Test func `A mistake of the set-up is an error of a server that is there`() async throws {
        let error = StorageError(.unauthenticated, "The token has no claim “role”.", isRetryable: false)
        try await client.setDocument("rooms/a", ["n": 1]).acknowledged()
        driver.failure.withLock { $0 = error }
        try await client.setDocument("rooms/b", ["n": 1])
        let stuck = try await status("the failure") { $0.firstError != nil }
        #expect(stuck.firstError == error && stuck.isOnline == true && stuck.pendingCount == 1)
        await client.shutDown()
    }

    @Test func `A status counts the writes of the user who is signed in`() async throws {
        try await client.disableNetwork()
        await client.setUser("alice")
        try await client.setDocument("rooms/a", ["n": 1])
        let hers = try await status("hers") { $0.pendingCount == 1 }
        #expect(hers.isOnline == false)
        await client.setUser("bob")
        _ = try await status("his") { $0.pendingCount == 0 }
        await client.setUser("alice")
        _ = try await status("hers again") { $0.pendingCount == 1 }
        await client.shutDown()
    }

    @Test func `A stream that shows the server's state is a contact, too`() async throws {
        let stream = client.snapshots(of: "rooms/a", options: ListenOptions())
        for try await snapshot in stream where !snapshot.metadata.isFromCache { break }
        _ = try await status("the contact") { $0.isOnline == true && $0.lastSynced != nil }
        await client.shutDown()
    }

    @Test func `The stream ends with the client, and a status that is left costs nothing`() async throws {
        let ended = Task { [client] in
            var count = 0
            for await _ in client.syncStatus() { count += 1 }
            return count
        }
        try await eventually("it is followed") { [client] in await client.engine.listenerCount == 1 }
        _ = try await status("the first") { _ in true }
        try await eventually("one is left") { [client] in await client.engine.listenerCount == 1 }
        await client.shutDown()
        #expect(await ended.value >= 1)
        for await _ in client.syncStatus() { Issue.record("a client that was shut down has a status") }
    }
}

extension EventStream where Failure == Never {
    /// Everything up to the end.
    fileprivate var all: [Element] {
        get async { await reduce(into: []) { $0.append($1) } }
    }
}

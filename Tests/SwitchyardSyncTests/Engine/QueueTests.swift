import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardConformance
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSync

/// The queue of writes as an app sees it, over the reference driver.
@Suite(.timeLimit(.minutes(2))) struct QueueTests {
    private let server = ModelServer()
    private let refused = StorageError(.unauthorized, "Not for you.")

    @Test func `A queue outlives its client, and the next one sends it in order`() async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let first = device(server, .folder(folder.url))
        try await first.disableNetwork()
        for number in 0..<30 {
            try await first.setDocument(StoragePath(validating: "log/\(number)"), ["n": .of(number)])
        }
        let ids = try await first.queue.map(\.id)
        await first.shutDown()
        #expect(server.documents.isEmpty)

        let second = device(server, .folder(folder.url))
        try await second.waitForPendingWrites()
        let sent = server.documents.sorted { $0.updateTime! < $1.updateTime! }
        #expect(sent.compactMap { $0["n"]?.integerValue } == Array(0..<30))
        #expect(ids.count == 30 && Set(ids).count == 30)
        await second.shutDown()
    }

    @Test func `A queue says what waits, since when, how often it was tried, and why that failed`() async throws {
        let client = device(server)
        server.setReachable(false)
        let receipt = try await client.setDocument("a/b", ["n": 1])
        try await eventually("an attempt has failed") { try await client.queue.first?.attempts ?? 0 > 0 }
        let waiting = try #require(try await client.queue.first)
        #expect(waiting.id == receipt.batchID)
        #expect(waiting.batch.writes.map(\.path) == ["a/b"])
        #expect(waiting.queuedAt == Timestamp(microseconds: 77_000_000))
        #expect(waiting.lastError?.code == .unavailable)
        server.setReachable(true)
        try await receipt.acknowledged()
        #expect(try await client.queue.isEmpty)
        await client.shutDown()
    }

    @Test func `A write that may have been sent is dropped while the network is off, and the queue goes on`()
        async throws
    {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let first = device(server, .folder(folder.url))
        server.setReachable(false)
        for name in ["a", "b", "c"] { try await first.setDocument(StoragePath("log", name), ["n": 1]) }
        try await eventually("an attempt has failed") { try await first.queue.first?.attempts ?? 0 > 0 }
        let ids = try await first.queue.map(\.id)
        try await first.disableNetwork()
        await first.shutDown()

        let second = device(server, .folder(folder.url))
        // Whether it was sent is unknown to another client.
        #expect(try await second.cancelPendingWrite(ids[1]) == false)
        #expect(try await second.dropPendingWrite(ids[1]) == false)
        try await second.disableNetwork()
        #expect(try await second.dropPendingWrite(ids[1]))
        #expect(try await second.dropPendingWrite(ids[1]) == false)
        #expect(try await second.queue.map(\.id) == [ids[0], ids[2]])
        server.setReachable(true)
        try await second.enableNetwork()
        try await second.waitForPendingWrites()
        #expect(Set(server.documents.map(\.path)) == ["log/a", "log/c"])
        await second.shutDown()
    }

    @Test func `The queue is followed as it grows and empties`() async throws {
        let client = device(server)
        try await client.disableNetwork()
        var states = client.pendingWrites().makeAsyncIterator()
        #expect(try await states.next()?.count == 0)
        try await client.setDocument("a/b", ["n": 1])
        #expect(try await states.next()?.count == 1)
        try await client.setDocument("a/c", ["n": 2])
        #expect(try await states.next()?.count == 2)
        try await client.enableNetwork()
        while let state = try await states.next(), !state.isEmpty {}
        #expect(server.documents.count == 2)
        await client.shutDown()
    }

    @Test func `Each user has a queue, and it waits for its user`() async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let client = device(server, .folder(folder.url), user: "alice")
        try await client.disableNetwork()
        try await client.setDocument("a/alice", ["n": 1])
        await client.setUser("bob")
        #expect(try await client.queue.isEmpty)
        #expect(try await client.documents(Query(in: "a"), from: .cache).isEmpty)
        try await client.setDocument("a/bob", ["n": 2])
        try await client.enableNetwork()
        try await client.waitForPendingWrites()
        #expect(server.documents.map(\.path) == ["a/bob"])
        await client.shutDown()

        let again = device(server, .folder(folder.url), user: "alice")
        try await again.waitForPendingWrites()
        #expect(server.documents.map(\.path).sorted() == ["a/alice", "a/bob"])
        await again.shutDown()
    }

    @Test func `A refused write is undone, outlives its client, and is sent again when somebody says so`() async throws
    {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let client = device(server, .folder(folder.url))
        server.refuse { [refused] _ in refused }
        let receipt = try await client.setDocument("a/b", ["n": 1])
        let error = await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
        #expect(error?.code == .unauthorized)
        #expect(try await client.queue.isEmpty)
        #expect(try await client.documents(Query(in: "a"), from: .cache).isEmpty)
        await client.shutDown()

        server.refuse(nil)
        let again = device(server, .folder(folder.url))
        let kept = try #require(try await again.refusals.first)
        #expect(kept.id == receipt.batchID)
        #expect(kept.error.code == .unauthorized && kept.error.message == "Not for you.")
        try await again.resolveRefusedWrite(kept.id, requeuing: kept.batch)
        #expect(try await again.refusals.isEmpty)
        try await again.waitForPendingWrites()
        #expect(server.documents.map(\.path) == ["a/b"])
        await again.shutDown()
    }

    @Test func `A rejected write that cannot be queued again is still there, and an unknown one is an error`()
        async throws
    {
        let failing = Shared<Set<StoreOperation>>([])
        let driver = ModelDriver(server)
        let client = SyncedStorageClient(
            SyncEngine(
                driver: driver, policy: .eager, userID: nil, clock: FastClock(),
                now: { Timestamp(microseconds: 77_000_000) },
                chance: { 0.5 }
            ) { () throws(StorageError) in
                FlakyStore(MemoryStore()) { operation in failing.value.withLock { $0.contains(operation) } }
            })
        server.refuse { [refused] _ in refused }
        let receipt = try await client.setDocument("a/b", ["n": 1])
        await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
        server.refuse(nil)
        let kept = try #require(try await client.refusals.first)
        for operation in [StoreOperation.resolveRefused, .writeLocally] {
            failing.value.withLock { $0 = [operation] }
            let failure = await #expect(throws: StorageError.self) {
                try await client.resolveRefusedWrite(kept.id, requeuing: kept.batch)
                // Queued in one transaction: the other kind is not needed.
                if operation == .writeLocally { throw StorageError(.localStore, "") }
            }
            #expect(failure?.code == .localStore)
            if operation == .resolveRefused { #expect(try await client.refusals.map(\.id) == [kept.id]) }
        }
        failing.value.withLock { $0 = [] }
        let unknown = await #expect(throws: StorageError.self) {
            try await client.resolveRefusedWrite(kept.id, requeuing: kept.batch)
        }
        #expect(unknown?.code == .notFound, "it was queued again before")
        try await client.waitForPendingWrites()
        #expect(server.documents.map(\.path) == ["a/b"])
        await client.shutDown()
    }

    @Test func `A refused write can be dropped, and those behind it go on`() async throws {
        let client = device(server)
        server.refuse { [refused] writes in writes.contains { $0.path == "a/bad" } ? refused : nil }
        try await client.setDocument("a/bad", ["n": 1])
        try await client.setDocument("a/good", ["n": 2])
        try await client.waitForPendingWrites()
        #expect(server.documents.map(\.path) == ["a/good"])
        let kept = try #require(try await client.refusals.first)
        try await client.resolveRefusedWrite(kept.id, requeuing: nil)
        #expect(try await client.refusals.isEmpty)
        #expect(try await client.queue.isEmpty)
        await client.shutDown()
    }

    @Test func `A write that was not sent can be taken back`() async throws {
        let client = device(server)
        try await client.disableNetwork()
        try await client.setDocument("a/stays", ["n": 1])
        let receipt = try await client.setDocument("a/goes", ["n": 2])
        #expect(try await client.cancelPendingWrite(receipt.batchID))
        let error = await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
        #expect(error?.code == .cancelled)
        #expect(try await client.documents(Query(in: "a"), from: .cache).documents.map(\.path) == ["a/stays"])
        try await client.enableNetwork()
        try await client.waitForPendingWrites()
        #expect(server.documents.map(\.path) == ["a/stays"])
        #expect(try await client.cancelPendingWrite(receipt.batchID) == false)
        await client.shutDown()
    }

    @Test func `A write that may have reached the server cannot be taken back`() async throws {
        let client = device(server)
        var faults = ModelFaults()
        faults.lostAnswers = 100
        server.setFaults(faults)
        let receipt = try await client.setDocument("a/b", ["n": 1])
        try await eventually("an attempt has failed") { try await client.queue.first?.attempts ?? 0 > 0 }
        #expect(try await client.cancelPendingWrite(receipt.batchID) == false)
        server.setFaults(ModelFaults())
        try await receipt.acknowledged()
        await client.shutDown()
    }

    @Test func `Increments count once each, however often requests and answers are lost`() async throws {
        let client = device(server)
        var faults = ModelFaults()
        (faults.lostRequests, faults.lostAnswers, faults.lateCopies) = (30, 50, 50)
        server.setFaults(faults, seed: 7)
        for _ in 0..<25 { try await client.mergeDocument("counters/one", ["n": .increment(1)]) }
        try await client.waitForPendingWrites()
        server.setFaults(ModelFaults())
        #expect(server.documents.first?["n"] == 25)
        await client.shutDown()
    }

    @Test func `Retrying by hand does not wait for the pause after a failure`() async throws {
        let clock = ManualClock()
        let client = device(server, clock: clock)
        server.setReachable(false)
        let receipt = try await client.setDocument("a/b", ["n": 1])
        // The first retry follows at once, the next after a pause that this clock never ends.
        try await eventually("two attempts have failed") { try await client.queue.first?.attempts == 2 }
        server.setReachable(true)
        try await client.retryPendingWrites()
        try await receipt.acknowledged()
        await client.shutDown()
    }

    @Test func `Pauses begin with none, grow by half up to a minute, and differ by up to a half`() {
        func seconds(_ attempt: Int, isOverloaded: Bool = false, _ chance: Double = 0.5) -> Double {
            let pause = SyncDelay.backoff(attempt: attempt, isOverloaded: isOverloaded)
                .duration(isFirstImmediate: true) { chance }
            return Double(pause.components.seconds) + Double(pause.components.attoseconds) / 1e18
        }
        #expect([1, 2, 3, 4].map { seconds($0) } == [0, 1, 1.5, 2.25])
        #expect([20, 1000].map { seconds($0) } == [60, 60])
        #expect([0, 0.5, 0.999].map { seconds(2, $0) } == [0.5, 1, 1.499])
        #expect(seconds(1, isOverloaded: true) == 60)
    }

    // MARK: Waiting

    @Test func `Waiting for the queue ends at once when there is none, and otherwise with the last answer`()
        async throws
    {
        let client = device(server)
        try await client.waitForPendingWrites()
        try await client.disableNetwork()
        try await client.setDocument("a/b", ["n": 1])
        let waiting = try await client.engine.waitForPendingWrites()
        try await client.setDocument("a/later", ["n": 2])
        try await client.enableNetwork()
        _ = await waiting.value
        #expect(server.documents.contains { $0.path == "a/b" })
        await client.shutDown()
    }

    @Test
    func
        `Waiting for the queue ends with an error when the user changes, the client shuts down or the call is cancelled`()
        async throws
    {
        let client = device(server)
        try await client.disableNetwork()
        try await client.setDocument("a/b", ["n": 1])
        let first = try await client.engine.waitForPendingWrites()
        await client.setUser("bob")
        guard case .failure(let error)? = await first.value else {
            Issue.record("the wait ended well")
            return
        }
        #expect(error.code == .cancelled)

        await client.setUser(nil)
        let call = Task { try await client.waitForPendingWrites() }
        call.cancel()
        let cancelled = await #expect(throws: StorageError.self) { try await call.value }
        #expect(cancelled?.code == .cancelled)

        let last = try await client.engine.waitForPendingWrites()
        await client.shutDown()
        guard case .failure(let end)? = await last.value else {
            Issue.record("the wait ended well")
            return
        }
        #expect(end.code == .shutDown)
    }
}

/// A value that closures of a test share.
private final class Shared<Value: Sendable>: Sendable {
    let value: Mutex<Value>
    init(_ value: Value) { self.value = Mutex(value) }
}

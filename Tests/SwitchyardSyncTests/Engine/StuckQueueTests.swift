import Switchyard
import SwitchyardConformance
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSync

/// A queue that does not get through says why, in every place where somebody may look.
@Suite(.timeLimit(.minutes(2))) struct StuckQueueTests {
    private let server = ModelServer()
    private let driver: FailingDriver
    private let log = EventLog()
    private let client: SyncedStorageClient
    private let noRole = StorageError(.unauthenticated, "The token has no claim “role”.", isRetryable: false)

    init() {
        driver = FailingDriver(server)
        client = SyncedStorageClient(driver: driver, clock: FastClock(), observer: log)
    }

    private var reported: [String] {
        log.kinds.compactMap {
            if case .pendingWrites(_, let failure?) = $0 { "\(failure.code): \(failure.message)" } else { nil }
        }
    }

    private func attempts(_ count: Int) async throws {
        try await eventually("\(count) attempts have failed") { try await client.queue.first?.attempts ?? 0 >= count }
    }

    @Test func `What is lost with a client that keeps its queue in memory is told, and nothing is said otherwise`()
        async throws
    {
        driver.failure.withLock { $0 = noRole }
        try await client.setDocument("a/first", ["n": 1])
        try await client.setDocument("a/second", ["n": 2])
        await client.shutDown()
        await client.shutDown()
        var notices: [String] { log.kinds.compactMap { if case .notice(let text) = $0 { text } else { nil } } }
        #expect(notices.count == 1 && notices[0].hasPrefix("2 queued writes were lost"))
        let quiet = EventLog()
        let other = SyncedStorageClient(driver: ModelDriver(server), clock: FastClock(), observer: quiet)
        try await other.setDocument("a/third", ["n": 3]).acknowledged()
        await other.shutDown()
        #expect(!quiet.kinds.contains { if case .notice = $0 { true } else { false } })
    }

    @Test func `The first write in the queue carries the reason, and when it is tried again`() async throws {
        driver.failure.withLock { $0 = noRole }
        try await client.setDocument("a/first", ["n": 1])
        try await client.setDocument("a/second", ["n": 2])
        var states = client.pendingWrites().makeAsyncIterator()
        var shown: PendingWrite?
        while let state = try await states.next() {
            shown = state.first
            if shown?.nextAttempt != nil { break }
        }
        let stuck = try #require(shown)
        #expect(
            stuck.lastError?.code == .unauthenticated && stuck.lastError?.message == noRole.message
                && stuck.attempts > 0)
        driver.failure.withLock { $0 = nil }
        try await client.retryPendingWrites()
        try await client.waitForPendingWrites()
        await client.shutDown()
    }

    @Test func `An observer is notified of each cause once, and again when it comes back`() async throws {
        driver.failure.withLock { $0 = noRole }
        try await client.setDocument("a/b", ["n": 1])
        try await attempts(3)
        #expect(reported == ["unauthenticated: The token has no claim “role”."])
        driver.failure.withLock { $0 = StorageError(.unavailable, "No network.") }
        try await eventually("the other cause is told") { reported.count > 1 }
        #expect(reported.last == "unavailable: No network.")
        driver.failure.withLock { $0 = nil }
        try await client.waitForPendingWrites()
        driver.failure.withLock { $0 = noRole }
        try await client.setDocument("a/b", ["n": 2])
        try await attempts(1)
        #expect(reported.count == 3 && reported.last == reported.first)
        await client.shutDown()
    }

    @Test func `Whoever waits with a deadline learns the reason, and the write stays`() async throws {
        driver.failure.withLock { $0 = noRole }
        let receipt = try await client.setDocument("a/b", ["n": 1])
        try await attempts(1)
        let calls: [() async throws -> Void] = [
            { _ = try await receipt.acknowledged(within: .seconds(1), clock: FastClock()) },
            { try await client.waitForPendingWrites(within: .seconds(1)) },
        ]
        for call in calls {
            let error = await #expect(throws: StorageError.self) { try await call() }
            #expect(error?.code == .unauthenticated && error?.isRetryable == true && error?.isRefusal == false)
            #expect(error?.message.contains(noRole.message) == true)
        }
        #expect(try await client.queue.map(\.id) == [receipt.batchID])
        driver.failure.withLock { $0 = nil }
        try await receipt.acknowledged(within: .seconds(600_000), clock: FastClock())
        try await client.waitForPendingWrites(within: .seconds(600_000))
        #expect(server.documents.map { $0["n"] } == [1])
        await client.shutDown()
    }

    @Test func `A write that is refused, and that no one waits for, is reported by path and code`() async throws {
        driver.failure.withLock { $0 = StorageError(.unauthorized, "Not yours.", isRefusal: true) }
        try await client.setDocument("a/b", ["n": 1])
        try await eventually("it is refused") { log.refusals == ["a/b: unauthorized"] }
        driver.failure.withLock { $0 = nil }
        await client.shutDown()
    }

    @Test func `While the network is switched off, whoever waits is told so, and what switches it on`() async throws {
        try await client.disableNetwork()
        let receipt = try await client.setDocument("a/b", ["n": 1])
        let error = await #expect(throws: StorageError.self) {
            try await receipt.acknowledged(within: .seconds(1), clock: FastClock())
        }
        #expect(error?.code == .deadlineExceeded)
        #expect(
            error?.message.contains("switched off with disableNetwork(). It is saved; enableNetwork() sends it") == true
        )
        #expect(try await client.queue.first?.lastError?.message.contains("Call enableNetwork()") == true)
        let other = await #expect(throws: StorageError.self) {
            try await client.waitForPendingWrites(within: .seconds(1))
        }
        #expect(other?.code == .deadlineExceeded && other?.message.contains("enableNetwork() sends it") == true)
        let transaction = await #expect(throws: StorageError.self) { try await client.makeTransaction() }
        #expect(transaction?.message.hasPrefix("A transaction needs the server. The network is switched off") == true)
        try await client.enableNetwork()
        try await receipt.acknowledged(within: .seconds(600_000), clock: FastClock())
        await client.shutDown()
    }
}

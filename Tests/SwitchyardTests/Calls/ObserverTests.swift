import Foundation
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import Switchyard

/// What an observer is notified of clients, and how an infrastructure puts layers around them.
@Suite struct ObserverTests {
    @Test func `Every call is reported with its time and its failure`() async throws {
        let events = EventLog()
        let clock = ManualClock()
        let network = MockNetwork(clock: clock)
        let mock = MockStorageClient(MockBackend(), network: network)
        let storage = mock.observed(by: events, clock: clock)
        network.latency = .seconds(2)
        let reading = Task { try await storage.document("a/1") }
        try await eventually("the call is under way") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(2))
        _ = try await reading.value
        network.latency = .zero
        mock.controls.fail(.commit, with: StorageError(.unauthorized, "No."))
        await #expect(throws: StorageError.self) { try await storage.setDocument("a/1", [:]) }
        #expect(
            events.kinds == [
                .call(operation: "document", duration: .seconds(2), failure: nil),
                .call(operation: "commit", duration: .zero, failure: .init(.unauthorized, "Writing “a/1” failed: No.")),
            ])
        #expect(events.all.allSatisfy { $0.service == .storage && $0.provider == .mock })
    }

    @Test func `A transaction is reported as a whole, with all its attempts`() async throws {
        let events = EventLog()
        let clock = ManualClock()
        let network = MockNetwork(clock: clock)
        let storage = MockStorageClient(MockBackend(), network: network).observed(by: events, clock: clock)
        network.latency = .milliseconds(300)
        let failing = Task {
            try await storage.transaction { transaction in
                _ = try await transaction.document("a/1")
                throw StorageError(.failedPrecondition, "Sold out.")
            }
        }
        // One step for the beginning and each call.
        while events.kinds.isEmpty {
            try await eventually("a step, or the end") { clock.sleeperCount == 1 || !events.kinds.isEmpty }
            clock.advance(by: .milliseconds(300))
        }
        await #expect(throws: StorageError.self) { try await failing.value }
        let reported = try #require(events.kinds.first)
        guard case .call("transaction", let duration, let failure) = reported else {
            Issue.record("It was reported as \(reported).")
            return
        }
        #expect(duration >= .milliseconds(300))
        #expect(failure == .init(.failedPrecondition, "Sold out."))
        #expect(events.kinds.count == 1)
    }

    @Test func `A stream is reported when it opens and once when it ends, with its failure`() async throws {
        let events = EventLog()
        let mock = MockStorageClient(MockBackend())
        let storage = mock.observed(by: events)
        for try await _ in storage.snapshots(of: "a/1") { break }
        mock.controls.fail(.queryStream, with: StorageError(.unauthorized, "No."))
        await #expect(throws: StorageError.self) { for try await _ in storage.snapshots(of: Query(in: "a")) {} }
        #expect(
            events.kinds == [
                .streamOpened(operation: "document stream"), .streamClosed(operation: "document stream", failure: nil),
                .streamOpened(operation: "query stream"),
                .streamClosed(
                    operation: "query stream", failure: .init(.unauthorized, "Following “a” failed: No.")),
            ])
    }

    @Test func `A transfer is reported twice: when it has begun and when it is done`() async throws {
        let events = EventLog()
        let mock = MockFileStorageClient(MockBackend())
        let files = mock.observed(by: events)
        try await files.put(Data("x".utf8), at: "a.txt")
        mock.controls.fail(.uploadPart, times: 100, with: FileStorageError(.unauthorized, "No."))
        await #expect(throws: FileStorageError.self) { try await files.put(Data("x".utf8), at: "b.txt") }
        try await eventually("both ends") { events.calls.count == 4 }
        #expect(
            events.calls.sorted() == [
                "files: upload", "files: upload", "files: upload to its end", "files: upload to its end (unauthorized)",
            ])
    }

    @Test func `An infrastructure with an observer reports all clients to it, the domain's included`() async throws {
        let events = EventLog()
        let backend = try await InfrastructureFactory(MockModule(backend: MockBackend())).make(
            InfrastructureSelection(default: .mock), in: InfrastructureOptions(observer: events))
        try await backend.auth.signUp(email: "a@example.com", password: "long enough")
        _ = try await backend.users.currentUser()
        _ = try await backend.messaging.token()
        _ = try await backend.files.list()
        for call in ["auth: sign up", "storage: document", "messaging: token", "files: list"] {
            #expect(events.calls.contains(call), "\(events.calls)")
        }
        #expect(backend.storage.unwrapped(as: MockStorageClient.self) != nil)
        #expect(backend.auth.unwrapped(as: MockAuthClient.self) != nil)
        #expect(backend.files.unwrapped(as: MockFileStorageClient.self) != nil)
        #expect(backend.messaging.unwrapped(as: MockMessagingClient.self) != nil)
        #expect(backend.storage.mock != nil && backend.auth.mock != nil)
        #expect(backend.files.mock != nil && backend.messaging.mock != nil)
        await backend.shutDown()
    }

    @Test func `A configuration's retries hold for every client, and a new one changes them while running`()
        async throws
    {
        let events = EventLog()
        var configuration = InfrastructureConfiguration(InfrastructureSelection(default: .mock))
        configuration.retry = RetryPolicy(maximumAttempts: 3, initialPause: .zero, maximumPause: .zero)
        let backend = try await InfrastructureFactory(MockModule(backend: MockBackend())).make(
            configuration, in: InfrastructureOptions(observer: events))
        let storage = try #require(backend.storage.unwrapped(as: MockStorageClient.self))
        storage.controls.fail(.document, times: 2, with: StorageError(.unavailable, "Gone."))
        #expect(try await backend.storage.document("a/1").exists == false)
        let messaging = try #require(backend.messaging.unwrapped(as: MockMessagingClient.self))
        messaging.controls.fail(.token, times: 2, with: MessagingError(.unavailable, "Gone."))
        _ = try await backend.messaging.token()
        // One call each for observers, with what happened in between.
        #expect(events.calls == ["storage: document", "messaging: token"])
        #expect(events.all.count { if case .retry = $0.kind { true } else { false } } == 4)

        configuration.retry = nil
        let report = try await backend.use(configuration)
        #expect(report.moves.isEmpty)
        #expect(backend.storage.unwrapped(as: MockStorageClient.self) === storage)
        storage.controls.fail(.document, with: StorageError(.unavailable, "Gone."))
        await #expect(throws: StorageError.self) { try await backend.storage.document("a/1") }
        await backend.shutDown()
    }

    @Test func `The length of a storage's queue is reported whenever it changes, over a deletion and a switch`()
        async throws
    {
        let events = EventLog()
        let network = MockNetwork()
        let module = MockModule(backend: MockBackend(), network: network)
        let backend = try await InfrastructureFactory(module).make(
            InfrastructureSelection(default: .mock), in: InfrastructureOptions(observer: events))
        func lengths() -> [Int] {
            events.kinds.compactMap { if case .pendingWrites(let count, .none) = $0 { count } else { nil } }
        }
        let storage = try #require(backend.storage.unwrapped(as: MockStorageClient.self))
        try await eventually("the queue has a listener") { storage.listenerCount == 1 }
        network.isOnline = false
        try await backend.storage.setDocument("a/1", ["n": 1])
        try await eventually("one") { lengths() == [1] }
        try await backend.storage.setDocument("a/1", ["n": 2])
        try await eventually("two") { lengths() == [1, 2] }
        try await backend.storage.clearPersistence()
        try await eventually("none") { lengths() == [1, 2, 0] }
        try await backend.storage.setDocument("a/1", ["n": 3])
        try await eventually("one again") { lengths() == [1, 2, 0, 1] }
        await backend.shutDown()
        try await eventually("no listener is left") { storage.listenerCount == 0 }
    }

    @Test func `Layers of one's own stand where they are put, around clients made one by one too`() async throws {
        let log = Log()
        var options = InfrastructureOptions()
        options.interceptors = [Naming("inner", log), Naming("outer", log)]
        let factory = InfrastructureFactory(MockModule(backend: MockBackend()))
        let auth = try await factory.createAuthClient(provider: .mock, in: options)
        try await auth.signInAnonymously()
        let storage = try await factory.createStorageClient(provider: .mock, auth: auth, in: options)
        _ = try await storage.document("a/1")
        #expect(
            log.lines.filter { !$0.contains("access token") } == [
                "outer sign in", "inner sign in", "outer document", "inner document",
            ])
    }

    private final class Log: Sendable {
        private let text = Mutex<[String]>([])
        var lines: [String] { text.withLock { $0 } }
        func add(_ line: String) { text.withLock { $0.append(line) } }
    }

    private struct Naming: CallInterceptor {
        let name: String
        let log: Log
        init(_ name: String, _ log: Log) { (self.name, self.log) = (name, log) }
        func call<Result, Failure: ClientError>(
            _ call: ClientCall, _ body: () async throws(Failure) -> Result
        ) async throws(Failure) -> Result {
            log.add("\(name) \(call.operation)")
            return try await body()
        }
    }
}

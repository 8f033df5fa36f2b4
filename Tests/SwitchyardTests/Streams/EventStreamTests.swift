import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import Switchyard

@Suite struct EventStreamTests {
    private final class Source: Sendable {
        struct State {
            var continuations: [EventStream<Int, Broken>.Continuation] = []
            var cleaned = 0
        }
        let state = Mutex(State())
        var started: Int { state.withLock { $0.continuations.count } }
        var cleaned: Int { state.withLock { $0.cleaned } }
        func yield(_ number: Int) { for one in state.withLock({ $0.continuations }) { one.yield(number) } }
        func announce() { for one in state.withLock({ $0.continuations }) { one.announce() } }

        private func start(_ continuation: EventStream<Int, Broken>.Continuation) -> @Sendable () -> Void {
            state.withLock { $0.continuations.append(continuation) }
            return { self.state.withLock { $0.cleaned += 1 } }
        }
        var prompt: EventStream<Int, Broken> { EventStream { self.start($0) } }
        var slow: EventStream<Int, Broken> { EventStream.announced { self.start($0) } }
    }

    @Test func `What happens after a stream has begun is not missed, however late the loop`() async throws {
        let source = Source()
        let stream = await source.prompt.mapElements { $0 * 10 }.begun()
        #expect(source.started == 1)
        for number in 1...3 { source.yield(number) }
        var seen: [Int] = []
        for try await number in stream {
            seen.append(number)
            if seen.count == 3 { break }
        }
        #expect(seen == [10, 20, 30])
        #expect(source.started == 1)
        try await eventually("it was left") { source.cleaned == 1 }
    }

    @Test func `Another loop over what has begun is a subscription of its own`() async throws {
        let source = Source()
        let stream = await source.prompt.begun()
        source.yield(1)
        var first = stream.makeAsyncIterator()
        var second = stream.makeAsyncIterator()
        #expect(try await first.next() == 1)
        let waiting = Task {
            try await eventually("the second has begun") { source.started == 2 }
            source.yield(2)
        }
        #expect(try await second.next() == 2)
        #expect(try await first.next() == 2)
        try await waiting.value
    }

    @Test func `A producer that needs time is waited for`() async throws {
        let source = Source()
        let beginning = Task { await source.slow.begun() }
        try await eventually("the start") { source.started == 1 }
        let hasBegun = Mutex(false)
        let watching = Task {
            _ = await beginning.value
            hasBegun.withLock { $0 = true }
        }
        #expect(!hasBegun.withLock { $0 })
        source.announce()
        await watching.value
        source.yield(5)
        for try await number in await beginning.value {
            #expect(number == 5)
            break
        }
    }

    @Test func `What has begun and is never looped over is given back`() async throws {
        let source = Source()
        do { _ = await source.prompt.begun() }
        try await eventually("it was left") { source.cleaned == 1 }
    }

    @Test func `A failure or a cancellation before the beginning shows in the loop`() async throws {
        let failing = EventStream<Int, Broken>.announced { continuation in
            continuation.finish(throwing: Broken())
            return {}
        }
        let failed = await failing.begun()
        await #expect(throws: Broken.self) { for try await _ in failed {} }

        let source = Source()
        let beginning = Task { await source.slow.begun() }
        try await eventually("the start") { source.started == 1 }
        beginning.cancel()
        var iterator = await beginning.value.makeAsyncIterator()
        #expect(try await iterator.next() == nil)
        #expect(source.cleaned == 1)
    }

    @Test func `A stream through layers and an exchangeable client begins with the client below`() async throws {
        let project = MockBackend()
        let events = EventLog()
        let backend = try await InfrastructureFactory(MockModule(backend: project)).make(
            InfrastructureSelection(default: .mock), in: InfrastructureOptions(observer: events))
        let token = try await backend.messaging.token()
        let mock = try #require(backend.messaging.unwrapped(as: MockMessagingClient.self))
        let messages = await backend.messaging.messageStream().begun()
        #expect(mock.listenerCount == 1)
        try project.messages.send(title: "One", to: token)
        for try await message in messages {
            #expect(message.title == "One")
            break
        }
        await backend.shutDown()
    }

    @Test func `A mock with a slow network has begun when it says so`() async throws {
        let clock = ManualClock()
        let network = MockNetwork(clock: clock, latency: .seconds(1))
        let storage = MockStorageClient(MockBackend(), network: network)
        let beginning = Task { await storage.snapshotsInSync().begun() }
        try await eventually("the way to the server") { clock.sleeperCount == 1 }
        #expect(storage.listenerCount == 0)
        clock.advance(by: .seconds(1))
        _ = await beginning.value
        #expect(storage.listenerCount == 1)
    }
}

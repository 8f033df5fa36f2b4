import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

/// How many calls a mock's server gets at a time, where they take time.
@Suite struct MockOverloadTests {
    private let clock = ManualClock()
    private let network: MockNetwork
    private let project = MockBackend()

    init() { network = MockNetwork(clock: clock) }

    /// A server on a slow connection.
    private func server(_ limits: CallLimits) async throws -> Infrastructure {
        var options = InfrastructureOptions()
        options.callLimits = limits
        let backend = try await Infrastructure(.mock(project, network: network), in: options)
        _ = try await backend.actingAsProject()
        network.latency = .seconds(1)
        return backend
    }

    private func write(_ number: Int, by backend: Infrastructure) -> Task<Void, any Error> {
        Task {
            let storage = try await backend.actingAsProject().storage
            try await storage.setDocument(StoragePath(validating: "a/\(number)"), ["n": .of(number)])
        }
    }

    @Test func `So many calls are under way and so many wait, and one more is refused at once`() async throws {
        let backend = try await server(CallLimits(underWay: 2, waiting: 1))
        let writes = (0..<3).map { write($0, by: backend) }
        try await eventually("all places are taken") { clock.sleeperCount == 2 && network.waitingCallCount == 1 }
        let storage = try await backend.actingAsProject().storage
        let refusal = await #expect(throws: StorageError.self) { try await storage.setDocument("a/x", ["n": 1]) }
        #expect(refusal?.code == .overloaded && refusal?.isRetryable == true)
        clock.advance(by: .seconds(1))
        try await eventually("the third has its turn") { clock.sleeperCount == 1 && network.waitingCallCount == 0 }
        clock.advance(by: .seconds(1))
        for write in writes { try await write.value }
        #expect(try await MockStorageClient(project).count(Query(in: "a")) == 3)
        network.latency = .zero
        await backend.shutDown()
    }

    @Test func `Whoever is cancelled while waiting leaves the place to the next`() async throws {
        let backend = try await server(CallLimits(underWay: 1, waiting: 2))
        let first = write(1, by: backend)
        try await eventually("one is under way") { clock.sleeperCount == 1 }
        let second = write(2, by: backend)
        try await eventually("one waits") { network.waitingCallCount == 1 }
        let third = write(3, by: backend)
        try await eventually("two wait") { network.waitingCallCount == 2 }
        second.cancel()
        let error = await #expect(throws: StorageError.self) { try await second.value }
        #expect(error?.code == .cancelled && network.waitingCallCount == 1)
        clock.advance(by: .seconds(1))
        try await first.value
        try await eventually("the third is under way") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        try await third.value
        network.latency = .zero
        await backend.shutDown()
    }
}

import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

/// What acts for callers, made at first use while other things go on.
@Suite struct ServerClientFactoryTests {
    /// A provider whose factories are made when the test says so.
    private struct Slow: MockBacked {
        static let provider: InfrastructureProvider = "slow"
        struct Configuration: Codable, Sendable { var name = "" }
        let configuration: Configuration
        var making = Making()
        let mock = MockModule(backend: MockBackend())
        init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

        func makeServerClientFactory(_ context: ModuleContext) async throws(InfrastructureError)
            -> any ServerClientFactory
        {
            making.begun.withLock { $0 += 1 }
            _ = await making.gate.value
            return Factory(base: try await mock.makeServerClientFactory(context), making: making)
        }
    }

    private final class Making: Sendable {
        let begun = Mutex(0)
        let ended = Mutex(0)
        let gate = Promise<Void>()
    }

    private struct Factory: ServerClientFactory {
        let base: any ServerClientFactory
        let making: Making
        var verifier: any TokenVerifier { base.verifier }
        func makeStorageClient(
            for caller: VerifiedToken, auth: any AuthClient
        ) throws(InfrastructureError) -> any StorageClient { try base.makeStorageClient(for: caller, auth: auth) }
        func shutDown() async {
            making.ended.withLock { $0 += 1 }
            await base.shutDown()
        }
    }

    private static let caller = VerifiedToken(
        token: Secret("any"), provider: "slow", userID: "alice", issuer: "somebody",
        expiresAt: Date(timeIntervalSinceNow: 3600))

    @Test func `A factory that is ready after the end is shut down, and no one gets it`() async throws {
        let module = Slow()
        let backend = try await Infrastructure(module)
        let asking = Task { try await backend.acting(as: Self.caller) }
        try await eventually("the maker is waiting") { module.making.begun.withLock { $0 } == 1 }
        await backend.shutDown()
        module.making.gate.resolve(())
        let error = await #expect(throws: InfrastructureError.self) { _ = try await asking.value }
        #expect(error?.code == .shutDown)
        #expect(module.making.ended.withLock { $0 } == 1)
    }

    @Test func `However many ask at the same time, one factory is made for all`() async throws {
        let module = Slow()
        let backend = try await Infrastructure(module)
        let asking = (0..<3).map { _ in Task { try await backend.acting(as: Self.caller) } }
        try await eventually("the maker is waiting") { module.making.begun.withLock { $0 } == 1 }
        module.making.gate.resolve(())
        for one in asking { _ = try await one.value }
        #expect(module.making.begun.withLock { $0 } == 1 && module.making.ended.withLock { $0 } == 0)
        await backend.shutDown()
        #expect(module.making.ended.withLock { $0 } == 1)
    }

    @Test func `A factory that is ready after another provider was chosen ends with the infrastructure`() async throws {
        let module = Slow()
        let backend = try await Infrastructure(module, others: [MockModule(backend: MockBackend())])
        let asking = Task { try await backend.acting(as: Self.caller) }
        try await eventually("the maker is waiting") { module.making.begun.withLock { $0 } == 1 }
        try await backend.use(.mock, for: .storage)
        try await backend.use(.mock, for: .files)
        module.making.gate.resolve(())
        let mine = try await asking.value
        #expect(mine.storage.provider == .mock)
        #expect(module.making.ended.withLock { $0 } == 0)
        await backend.shutDown()
        #expect(module.making.ended.withLock { $0 } == 1)
    }
}

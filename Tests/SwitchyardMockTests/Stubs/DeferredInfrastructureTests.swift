import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

@Suite struct DeferredInfrastructureTests {
    /// A provider that counts how often it is made, and fails as often as it is told to.
    private struct LateModule: InfrastructureModule {
        static let provider: InfrastructureProvider = "late"

        final class Log: Sendable {
            let made = Mutex(0)
            let failures: Mutex<Int>
            init(failures: Int = 0) { self.failures = Mutex(failures) }
        }

        var backend = MockBackend.sample()
        var log = Log()
        var configuration = MockConfiguration()

        init(_ configuration: MockConfiguration) { self.configuration = configuration }
        init(log: Log = Log()) { self.log = log }
        func reconfigured(_ configuration: MockConfiguration) -> LateModule { self }

        func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
            log.made.withLock { $0 += 1 }
            let fails = log.failures.withLock { left in
                defer { left -= 1 }
                return left > 0
            }
            if fails { throw InfrastructureError(.localStore, "The folder is in use.") }
            return try await MockModule(backend: backend).makeAuthClient(context)
        }
        func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
            try await MockModule(backend: backend).makeStorageClient(context)
        }
    }

    private static let shared = Infrastructure.deferred(.mock(.sample()))

    @Test func `It is there at once, and its clients can be used at once`() async throws {
        try await Self.shared.auth.signIn(email: MockSample.email, password: MockSample.password)
        #expect(try await Self.shared.users.currentUser().displayName == "Alice Example")
        #expect(Self.shared.storage.provider == .mock && Self.shared.storage.capabilities == .all)
    }

    @Test func `Nothing happens before the first use, and all first uses share one start`() async throws {
        let log = LateModule.Log()
        let backend = Infrastructure.deferred(LateModule(log: log))
        #expect(log.made.withLock { $0 } == 0 && backend.storage.provider == "none")
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask { try await backend.storage.document("users/alice", from: .server).exists }
            }
            for try await exists in group { #expect(exists) }
        }
        #expect(log.made.withLock { $0 } == 1)
        try await backend.start()
        #expect(log.made.withLock { $0 } == 1)
        await backend.shutDown()
    }

    @Test func `Streams and the session wait for the start, too`() async throws {
        let backend = Infrastructure.deferred(.mock(.sample()))
        for try await snapshot in backend.storage.snapshots(of: "users/alice") {
            #expect(snapshot["displayName"] == "Alice Example")
            break
        }
        let other = Infrastructure.deferred(.mock(.sample()))
        #expect(await other.auth.state != .unknown)
        let third = Infrastructure.deferred(.mock(.sample()))
        for await state in third.auth.authStateStream() {
            #expect(state != .unknown)
            break
        }
        let fourth = Infrastructure.deferred(.mock(.sample()))
        let messages = await fourth.messaging.messageStream().begun()
        #expect(fourth.messaging.provider == .mock)
        _ = messages
        for backend in [backend, other, third, fourth] { await backend.shutDown() }
    }

    @Test func `A start that fails is the error of every call and stream, and the next use tries again`() async throws {
        let log = LateModule.Log(failures: 2)
        let backend = Infrastructure.deferred(LateModule(log: log))
        let error = await #expect(throws: StorageError.self) {
            try await backend.storage.document("users/alice", from: .server)
        }
        #expect(error?.code == .localStore && error?.message.contains("The backend could not be started: ") == true)
        #expect(error?.message.contains("The folder is in use.") == true)
        let ended = await #expect(throws: StorageError.self) {
            for try await _ in backend.storage.snapshots(of: "users/alice") {}
        }
        #expect(ended?.code == .localStore)
        #expect(try await backend.storage.document("users/alice", from: .server).exists)
        #expect(log.made.withLock { $0 } == 3)
        await backend.shutDown()
    }

    @Test func `A switch, and what a server makes, start it first`() async throws {
        let backend = Infrastructure.deferred(
            .mock(.sample()), others: [LateModule()])
        let report = try await backend.use(InfrastructureProvider.mock, for: .storage)
        #expect(report.moves.isEmpty)
        let admin = try await Infrastructure.deferred(.mock(.sample())).admin()
        #expect(admin.provider == .mock)
        await backend.shutDown()
    }

    @Test func `One that is shut down does not start any more`() async throws {
        let log = LateModule.Log()
        let backend = Infrastructure.deferred(LateModule(log: log))
        await backend.shutDown()
        let error = await #expect(throws: StorageError.self) {
            try await backend.storage.document("users/alice", from: .server)
        }
        #expect(error?.code == .shutDown)
        #expect(log.made.withLock { $0 } == 0)
    }
}

import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardFirebase

/// A server whose backend is slower than those who ask.
@Suite struct OverloadTests {
    private static func caller(_ name: String) -> VerifiedToken {
        VerifiedToken(
            token: Secret("token-\(name)"), provider: .firebase, userID: name, issuer: "test",
            expiresAt: Date(timeIntervalSinceNow: 3600))
    }

    private final class Backlog: Sendable {
        let arrived = Mutex(0)
        let go = Promise<Void>()
        static let answer = Array(
            #"{"writeResults":[{"updateTime":"2026-01-01T00:00:00Z"}],"commitTime":"2026-01-01T00:00:00Z"}"#.utf8)

        func serve() async -> ServerResponse {
            arrived.withLock { $0 += 1 }
            _ = await go.value
            return .json(Self.answer)
        }
    }

    @Test func `Callers count together, one too many is refused at once, and served when there is room again`()
        async throws
    {
        let backlog = Backlog()
        let server = try LoopbackServer { _ in await backlog.serve() }
        var configuration = FirebaseConfiguration(project: "demo", apiKey: "key")
        configuration.emulators.firestore = "127.0.0.1:\(server.port)"
        var options = InfrastructureOptions()
        options.callLimits = CallLimits(underWay: 2, waiting: 0)
        let backend = try await Infrastructure(
            FirebaseModule(configuration), in: options)
        @Sendable func write(_ name: String) async throws {
            let path = try StoragePath(validating: "users/\(name)")
            try await backend.acting(as: Self.caller(name)).storage.setDocument(path, ["n": 1])
        }
        let first = (0..<2).map { number in Task { try await write("a\(number)") } }
        try await eventually("two are under way") { backlog.arrived.withLock { $0 } == 2 }

        let refusal = await #expect(throws: StorageError.self) { try await write("zoe") }
        #expect(refusal?.code == .overloaded && refusal?.isRetryable == true)
        #expect(refusal?.message.hasPrefix("Writing “users/zoe” failed: ") == true)
        #expect(refusal?.message.contains("127.0.0.1") == true)
        #expect(backlog.arrived.withLock { $0 } == 2)

        backlog.go.resolve(())
        for task in first { try await task.value }
        try await write("zoe")
        #expect(backlog.arrived.withLock { $0 } == 3)
        await backend.shutDown()
        await server.stop()
    }
}

import SwitchyardTestSupport
import Testing

@testable import SwitchyardServerKit

/// What a connection does if the other end is no database that lets it in.
@Suite struct PostgresGreetingTests {
    /// Connects to a listener that sends `answer` to the first that comes, and nothing after it.
    private func failure(answering answer: [UInt8], patience: Duration) async throws -> PostgresFailure? {
        let listener = try Socket.listen(on: .ipv4, port: 0, backlog: 4)
        defer { Socket.close(listener) }
        let connecting = Task {
            await #expect(throws: PostgresFailure.self) {
                _ = try await PostgresConnection(
                    port: Socket.port(of: listener), user: "postgres", database: "postgres", patience: patience)
            }
        }
        let accepted = try await Self.accepted(from: listener)
        defer { Socket.close(accepted) }
        _ = answer.withUnsafeBytes { Socket.send(accepted, $0) }
        return await connecting.value
    }

    private static func accepted(from listener: Int32) async throws -> Int32 {
        var accepted: Int32?
        try await eventually("a connection") {
            if case .connection(let descriptor) = Socket.accept(from: listener) { accepted = descriptor }
            return accepted != nil
        }
        return try #require(accepted)
    }

    @Test(.timeLimit(.minutes(1)))
    func `A database that asks for a password is refused at once, though it waits for one`() async throws {
        // “R”, a length of eight, and the code of a password in plain text.
        let failure = try await failure(answering: [0x52, 0, 0, 0, 8, 0, 0, 0, 3], patience: .seconds(3600))
        #expect(failure?.code == "28000")
        #expect(failure?.message.contains("asks for a password") == true)
    }

    @Test(.timeLimit(.minutes(1)))
    func `A listener that says nothing is given up`() async throws {
        let failure = try await failure(answering: [], patience: .milliseconds(50))
        #expect(failure == .disconnected)
    }
}

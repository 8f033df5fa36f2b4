import SwitchyardMock
import SwitchyardTestSupport
import Testing

@testable import Switchyard

/// What a server checks tokens and administers accounts with has the layers that clients have.
@Suite struct ServerCallTests {
    private struct Server {
        let backend: Infrastructure
        let verifier: any TokenVerifier
        let admin: any AdminClient
        let token: Secret

        init(_ options: InfrastructureOptions = InfrastructureOptions()) async throws {
            backend = try await Infrastructure(.mock, in: options)
            try await backend.auth.signInAnonymously()
            token = try await backend.auth.accessToken().value
            verifier = try await backend.tokenVerifier()
            admin = try await backend.admin()
        }
    }

    @Test func `Observers are notified of checked tokens and of the administration, and for which request that was`()
        async throws
    {
        let events = EventLog()
        let server = try await Server(InfrastructureOptions(observer: events))
        let caller = try await withRequest(id: "7f3a") {
            let caller = try await server.verifier.verify(server.token)
            _ = try await server.admin.account(caller.userID)
            return caller
        }
        _ = await #expect(throws: TokenError.self) { try await server.verifier.verify("no token") }
        try await server.admin.delete(caller.userID)
        let reported = events.all.compactMap { event -> String? in
            guard case .call(let operation, _, let failure) = event.kind,
                operation == "verify token" || operation.contains("account")
            else { return nil }
            return "\(event.service) \(event.requestID ?? "–"): \(operation)" + (failure.map { " \($0.code)" } ?? "")
        }
        #expect(
            reported == [
                "auth 7f3a: verify token", "auth 7f3a: accounts", "auth –: verify token malformedToken",
                "auth –: delete account",
            ])
        #expect(server.verifier.provider == .mock && server.admin.provider == .mock)
        #expect(server.admin.capabilities == MockAdminClient.everything)
        await server.backend.shutDown()
    }

    @Test func `Nothing is checked or administered after the deadline of the request`() async throws {
        let server = try await Server()
        let checking = await #expect(throws: TokenError.self) {
            try await withRequest(deadline: .now) { try await server.verifier.verify(server.token) }
        }
        #expect(checking?.code == .deadlineExceeded && checking?.message.contains("Nothing was done") == true)
        let creating = await #expect(throws: AuthError.self) {
            try await withRequest(deadline: .now) { try await server.admin.create(NewAccount()) }
        }
        #expect(creating?.code == .deadlineExceeded && creating?.message.contains("“create account”") == true)
        await server.backend.shutDown()
    }
}

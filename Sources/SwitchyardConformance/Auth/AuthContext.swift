import Foundation
import Switchyard
import Synchronization

/// The context of an auth check: a signed-out device, others on demand, and people who exist nowhere else.
final class AuthContext: ConformanceContext {
    private struct State {
        var clients: [any AuthClient] = []
        var listeners: [@Sendable () -> Void] = []
    }

    let harness: any AuthHarness
    let namespace = ConformanceNamespace()
    let features: AuthFeatures
    let client: any AuthClient
    /// Accepted by every provider, and worthless to attackers.
    let password: Secret = "correct horse 7 battery"
    let otherPassword: Secret = "another staple 8 entirely"
    let redirectURL = URL(string: "https://app.example.com/callback") ?? URL(fileURLWithPath: "/")
    private let state = Mutex(State())

    init(_ harness: any AuthHarness) async throws {
        self.harness = harness
        features = harness.features
        client = try await harness.makeAuthClient()
        state.withLock { $0.clients = [client] }
    }

    /// A new device for each call.
    func device() async throws -> any AuthClient {
        let client = try await harness.makeAuthClient()
        keep(client)
        return client
    }

    /// Shuts the client down and reopens it on the same device.
    func restart(_ client: any AuthClient) async throws -> any AuthClient {
        await client.shutDown()
        let reopened = try await harness.reopen(client)
        keep(reopened)
        return reopened
    }

    private func keep(_ client: any AuthClient) { state.withLock { $0.clients.append(client) } }

    func email(_ name: String = "alice") -> String { harness.email(name, in: namespace) }

    /// Creates an account and signs in to it, with its address confirmed if the provider requires that.
    ///
    /// - Parameter confirmed: Whether the address has to be confirmed in any case.
    @discardableResult
    func signUp(
        _ name: String = "alice", password: Secret? = nil, on client: (any AuthClient)? = nil, confirmed: Bool = false
    ) async throws -> AuthUser {
        let (client, password) = (client ?? self.client, password ?? self.password)
        switch try await client.signUp(email: email(name), password: password) {
        case .signedIn(let user):
            if confirmed { try await harness.confirmEmail(email(name)) }
            return user
        case .confirmationSent(let address):
            try await harness.confirmEmail(address)
            return try await client.signIn(email: address, password: password)
        }
    }

    /// Gives the current anonymous account an address and a password, with the address confirmed if the provider requires that.
    func linkPassword() async throws -> AuthUser {
        let credential = AuthCredential.password(email: email(), password)
        do throws(AuthError) {
            return try await client.link(credential)
        } catch {
            guard features.asksForConfirmation, error.code == .emailNotConfirmed else { throw error }
        }
        try await harness.confirmFirstEmail(email())
        return try await client.link(credential)
    }

    @discardableResult
    func signIn(_ name: String = "alice", on client: (any AuthClient)? = nil) async throws -> AuthUser {
        try await (client ?? self.client).signIn(email: email(name), password: password)
    }

    func watch(_ client: any AuthClient) -> StreamProbe<AuthState> {
        let probe = StreamProbe<AuthState>(client.authStateStream())
        state.withLock { $0.listeners.append { probe.cancel() } }
        return probe
    }

    func watch() -> StreamProbe<AuthState> { watch(client) }

    @discardableResult
    func expectFailure<Value>(
        _ codes: AuthError.Code..., in what: String, file: String = #fileID, line: Int = #line,
        _ body: () async throws -> Value
    ) async throws -> AuthError {
        try await SwitchyardConformance.expectFailure(codes, as: AuthError.self, what, file: file, line: line, body)
    }

    func expectSignedIn(
        _ id: AuthUser.ID, on client: (any AuthClient)? = nil, file: String = #fileID, line: Int = #line
    ) async throws {
        let user = await (client ?? self.client).currentUser
        try expectEqual(user?.id, id, "the user who is signed in", file: file, line: line)
    }

    func expectSignedOut(
        on client: (any AuthClient)? = nil, file: String = #fileID, line: Int = #line
    ) async throws {
        let state = await (client ?? self.client).state
        try expect(!state.isSignedIn, "no user is signed in", found: "\(state)", file: file, line: line)
    }

    func tearDown() async throws {
        let (clients, listeners) = state.withLock { ($0.clients, $0.listeners) }
        for cancel in listeners { cancel() }
        for client in clients {
            // The harness has to remove accounts that cannot be deleted this way.
            if features.capabilities.accountDeletion { try? await client.deleteAccount() }
            await client.shutDown()
        }
        try await harness.cleanUp(namespace)
    }
}

public typealias AuthCheck = ConformanceCheck<any AuthHarness, AuthFeatures>

extension ConformanceCheck where Harness == any AuthHarness, Features == AuthFeatures {
    init(
        _ name: String, needs requirements: AuthRequirement..., deadline: Duration = .seconds(40),
        _ body: @escaping @Sendable (AuthContext) async throws -> Void
    ) {
        self.init(.auth, name, requirements: requirements, deadline: deadline) { harness in
            try await ConformanceLife.run(deadline: deadline, begin: { try await AuthContext(harness) }, body: body)
        }
    }
}

import Foundation
import Switchyard
import Synchronization

/// The context of an admin check: clients of a project, devices on demand, and people who exist nowhere else.
final class AdminContext: ConformanceContext {
    private struct State {
        var devices: [any AuthClient] = []
        var ids: Set<AuthUser.ID> = []
        /// The keys of accounts that the check may have created.
        var keys: Set<AccountKey> = []
    }

    let harness: any AdminHarness
    let namespace = ConformanceNamespace()
    let features: AdminFeatures
    let client: any AdminClient
    /// Accepted by every provider, and worthless to attackers. Password hashes for imports are made from it.
    let password: Secret = "correct horse 7 battery"
    let otherPassword: Secret = "another staple 8 entirely"
    private let state = Mutex(State())

    init(_ harness: any AdminHarness) async throws {
        self.harness = harness
        features = harness.features
        client = try await harness.makeAdminClient()
    }

    // MARK: Names

    func email(_ name: String = "alice") -> String {
        let email = harness.email(name, in: namespace)
        note(.email(email))
        return email
    }

    func phoneNumber(_ index: Int = 0) -> String {
        let number = harness.phoneNumber(index, in: namespace)
        note(.phoneNumber(number))
        return number
    }

    func newID() -> AuthUser.ID {
        let id = harness.makeID()
        note(.id(id))
        return id
    }

    private func note(_ key: AccountKey) { state.withLock { _ = $0.keys.insert(key) } }

    // MARK: Accounts

    /// Creates an account with a confirmed address, so that its password works with every provider.
    @discardableResult
    func create(
        _ name: String = "alice", on client: (any AdminClient)? = nil, _ change: (inout NewAccount) -> Void = { _ in }
    ) async throws -> ManagedAccount {
        var account = NewAccount(email: email(name), isEmailVerified: true, password: password)
        change(&account)
        return try await create(account, on: client)
    }

    @discardableResult
    func create(_ account: NewAccount, on client: (any AdminClient)? = nil) async throws -> ManagedAccount {
        let made = try await (client ?? self.client).create(account)
        state.withLock { _ = $0.ids.insert(made.id) }
        return made
    }

    /// The account's current state on the server.
    func account(_ id: AuthUser.ID) async throws -> ManagedAccount { try await client.account(id) }

    func expectMissing(_ id: AuthUser.ID, file: String = #fileID, line: Int = #line) async throws {
        let found = try await client.accounts([.id(id)])
        try expectEqual(found, [nil], "what is found", file: file, line: line)
    }

    /// The `accounts` that this check has created.
    func own(_ accounts: [ManagedAccount]) -> [AuthUser.ID] {
        let ids = state.withLock { $0.ids }
        return accounts.map(\.id).filter { ids.contains($0) }
    }

    // MARK: Devices

    /// A new device for each call.
    func device() async throws -> any AuthClient {
        let device = try await harness.makeAuthClient()
        state.withLock { $0.devices.append(device) }
        return device
    }

    /// A device that is signed in with the address and `password`.
    func signedIn(_ name: String = "alice", password: Secret? = nil) async throws -> any AuthClient {
        let device = try await device()
        try await device.signIn(email: email(name), password: password ?? self.password)
        return device
    }

    /// Expects that signing in with the address and `password` fails.
    func expectShut(
        _ codes: AuthError.Code..., for name: String = "alice", password: Secret? = nil, file: String = #fileID,
        line: Int = #line
    ) async throws {
        let device = try await device()
        try await SwitchyardConformance.expectFailure(
            codes, as: AuthError.self, "signing in", file: file, line: line
        ) { try await device.signIn(email: email(name), password: password ?? self.password) }
    }

    @discardableResult
    func expectFailure<Value>(
        _ codes: AuthError.Code..., in what: String, file: String = #fileID, line: Int = #line,
        _ body: () async throws -> Value
    ) async throws -> AuthError {
        try await SwitchyardConformance.expectFailure(codes, as: AuthError.self, what, file: file, line: line, body)
    }

    func tearDown() async throws {
        let state = state.withLock { $0 }
        for device in state.devices { await device.shutDown() }
        let known = try await client.accounts(Array(state.keys)).compactMap { $0?.id }
        let failures = try await client.delete(Array(state.ids.union(known)))
        if let failure = failures.values.first { throw failure }
        try await harness.cleanUp(namespace)
    }
}

public typealias AdminCheck = ConformanceCheck<any AdminHarness, AdminFeatures>

extension ConformanceCheck where Harness == any AdminHarness, Features == AdminFeatures {
    init(
        _ name: String, needs requirements: AdminRequirement..., deadline: Duration = .seconds(40),
        _ body: @escaping @Sendable (AdminContext) async throws -> Void
    ) {
        self.init(.admin, name, requirements: requirements, deadline: deadline) { harness in
            try await ConformanceLife.run(deadline: deadline, begin: { try await AdminContext(harness) }, body: body)
        }
    }
}

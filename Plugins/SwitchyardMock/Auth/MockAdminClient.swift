public import Foundation
public import Switchyard

/// Manages the ``MockAccounts`` of a backend, immediately and without a network.
///
/// ```swift
/// let admin = MockAdminClient(backend)
/// let alice = try await admin.create(NewAccount(email: "alice@example.com", password: "long enough"))
/// ```
/// Custom claims appear in tokens under their own names, so names like `sub` and `exp` are refused. A custom token is valid for
/// an hour, a link for ``MockAccounts/Lifetimes/code``, and no email is sent for a link. A new password ends the sessions of
/// its account.
public final class MockAdminClient: AdminClient {
    public let provider: InfrastructureProvider = .mock
    public let capabilities: AdminCapabilities
    /// Scripts and records the calls of this client.
    public let controls: MockControls<AuthError>
    private let backend: MockBackend
    private var server: MockAccounts { backend.accounts }

    /// All capabilities, except for hashes of Argon2 and scrypt.
    public static let everything: AdminCapabilities = {
        var everything = AdminCapabilities()
        everything.endingSessions = true
        everything.customTokens = true
        everything.links = Set(AccountLink.allCases)
        everything.passwordHashes = [.bcrypt, .pbkdf2SHA256]
        return everything
    }()

    /// - Parameters:
    ///   - backend: The project.
    ///   - network: The connection to it.
    ///   - capabilities: The capabilities; reduce them to test a server with a provider that has fewer.
    public init(
        _ backend: MockBackend, network: MockNetwork = MockNetwork(),
        capabilities: AdminCapabilities = MockAdminClient.everything
    ) {
        self.backend = backend
        self.capabilities = capabilities
        controls = MockControls(
            network: network, unavailable: AuthError(.unavailable, "The mock's network is off."),
            cancelled: .waiterCancelled)
    }

    /// Makes one call: the script, the server, and for changes an answer that may be lost.
    private func ask<Answer: Sendable>(
        _ operation: MockOperation<Answer, AuthError>, _ subject: @autoclosure () -> String = "",
        isWriting: Bool = true, _ body: (MockAccounts) throws(AuthError) -> Answer
    ) async throws(AuthError) -> Answer {
        guard !Task.isCancelled else { throw .waiterCancelled }
        if let scripted = try await controls.enter(operation, subject(), needsNetwork: true) { return scripted }
        guard !Task.isCancelled else { throw .waiterCancelled }
        let answer = try body(server)
        if isWriting { try controls.leave() }
        return answer
    }

    private func require(
        _ isDeclared: Bool, _ operation: String, instead alternative: String
    ) throws(AuthError) {
        guard isDeclared else { throw .unsupported(operation, by: provider, instead: alternative) }
    }

    // MARK: Finding

    public func accounts(_ keys: [AccountKey]) async throws(AuthError) -> [ManagedAccount?] {
        try await ask(.findAccounts, "\(keys.count)", isWriting: false) { server in server.accounts(keys) }
    }

    public func accountPage(after cursor: AccountCursor?, limit: Int) async throws(AuthError) -> AccountPage {
        guard (1...1000).contains(limit) else {
            throw AuthError(.invalidArgument, "A page has 1 to 1000 accounts, not \(limit).")
        }
        return try await ask(.accountPage, "\(limit)", isWriting: false) { server in
            server.page(after: cursor, limit: limit)
        }
    }

    // MARK: Changing

    @discardableResult
    public func create(_ account: NewAccount) async throws(AuthError) -> ManagedAccount {
        try await ask(.createAccount, account.id ?? "") { (server) throws(AuthError) in try server.create(account) }
    }

    @discardableResult
    public func update(_ id: AuthUser.ID, _ edit: AccountEdit) async throws(AuthError) -> ManagedAccount {
        try await ask(.updateManagedAccount, id) { (server) throws(AuthError) in try server.update(id, edit) }
    }

    public func delete(_ id: AuthUser.ID) async throws(AuthError) {
        _ = try await ask(.deleteManagedAccount, id) { (server) throws(AuthError) in
            try server.remove(id)
            return true
        }
    }

    // MARK: Optional features

    public func endSessions(of id: AuthUser.ID) async throws(AuthError) {
        try require(
            capabilities.endingSessions, "ending an account's sessions",
            instead: "Disable the account, or set a new password.")
        _ = try await ask(.endSessions, id) { (server) throws(AuthError) in
            try server.endAllSessions(of: id)
            return true
        }
    }

    public func customToken(
        for id: AuthUser.ID, claims: [String: DocumentValue]
    ) async throws(AuthError) -> Secret {
        try require(capabilities.customTokens, "custom tokens", instead: "Send a link that signs in.")
        return try await ask(.customToken, id, isWriting: false) { (server) throws(AuthError) in
            try server.customToken(for: id, claims: claims)
        }
    }

    public func link(_ kind: AccountLink, for email: String, redirectURL: URL?) async throws(AuthError) -> URL {
        try require(
            capabilities.links.contains(kind), "links of the kind “\(kind.rawValue)”",
            instead: "Have the provider send its own mail.")
        return try await ask(.accountLink, kind.rawValue) { (server) throws(AuthError) in
            try server.link(kind, for: email, redirectURL: redirectURL)
        }
    }

    public func importAccounts(_ accounts: [ImportedAccount]) async throws(AuthError) -> [AuthUser.ID: AuthError] {
        try require(
            !capabilities.passwordHashes.isEmpty, "importing accounts", instead: "Create them with new passwords.")
        return try await ask(.importAccounts, "\(accounts.count)") { [kinds = capabilities.passwordHashes] server in
            var failures: [AuthUser.ID: AuthError] = [:]
            for account in accounts {
                do throws(AuthError) { try server.take(account, kinds) } catch { failures[account.id] = error }
            }
            return failures
        }
    }
}

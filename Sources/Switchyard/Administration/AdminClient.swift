public import Foundation

/// Manages the accounts of a project, for its servers and tools. It has full access to all accounts. Never put the service
/// account or service key that it needs in an app.
///
/// ```swift
/// let admin = try await backend.admin()
/// let alice = try await admin.create(NewAccount(email: "alice@example.com", password: "long enough"))
/// try await admin.update(alice.id, AccountEdit(claims: ["role": "authenticated"]))
/// for try await page in admin.accountPages() { report(page.accounts) }
/// ```
/// Calls for a missing account throw `.userNotFound`. If the project rejects the key, they throw `.unauthenticated`.
public protocol AdminClient: Sendable {
    var provider: InfrastructureProvider { get }
    var capabilities: AdminCapabilities { get }

    /// Finds accounts by ID, address or phone number, in the given order; `nil` for a missing one.
    func accounts(_ keys: [AccountKey]) async throws(AuthError) -> [ManagedAccount?]

    /// A page of all accounts. However many accounts come and go meanwhile, successive pages include every account that
    /// exists throughout, and none twice.
    ///
    /// - Parameters:
    ///   - cursor: Where the previous page ended; `nil` for the first.
    ///   - limit: The maximum number of accounts, from 1 to 1000.
    func accountPage(after cursor: AccountCursor?, limit: Int) async throws(AuthError) -> AccountPage

    /// - Throws: `.emailInUse`; `.identityInUse` if the ID or the phone number is taken; `.weakPassword`; `.invalidArgument`
    ///   for an invalid address, number or ID.
    @discardableResult
    func create(_ account: NewAccount) async throws(AuthError) -> ManagedAccount

    /// Takes effect at once, without sending emails. With some providers, a new password ends sessions.
    @discardableResult
    func update(_ id: AuthUser.ID, _ edit: AccountEdit) async throws(AuthError) -> ManagedAccount

    func delete(_ id: AuthUser.ID) async throws(AuthError)

    /// Deletes many accounts. A missing one counts as deleted.
    ///
    /// - Returns: The errors for accounts that were not deleted.
    func delete(_ ids: [AuthUser.ID]) async throws(AuthError) -> [AuthUser.ID: AuthError]

    /// Ends every session of an account. Tokens already issued stay valid until they expire, usually within an hour, unless
    /// the verifier checks for revocation.
    func endSessions(of id: AuthUser.ID) async throws(AuthError)

    /// A token with which an app signs in as this user, who may not exist yet. It is valid for some minutes up to an hour.
    ///
    /// - Parameters:
    ///   - id: The user of the session.
    ///   - claims: Additional claims in the session's tokens.
    func customToken(for id: AuthUser.ID, claims: [String: DocumentValue]) async throws(AuthError) -> Secret

    /// The link that an email to the owner of an account would contain. No email is sent; send it yourself.
    ///
    /// - Parameters:
    ///   - kind: What the link does.
    ///   - email: The address of an account.
    ///   - redirectURL: The URL to which the linked page redirects.
    func link(_ kind: AccountLink, for email: String, redirectURL: URL?) async throws(AuthError) -> URL

    /// Imports accounts from another service, with their IDs and password hashes.
    ///
    /// - Returns: The errors for accounts that were not imported. An account with an existing ID is refused, not replaced.
    func importAccounts(_ accounts: [ImportedAccount]) async throws(AuthError) -> [AuthUser.ID: AuthError]
}

extension AdminClient {
    public func endSessions(of id: AuthUser.ID) async throws(AuthError) {
        throw .unsupported(
            "ending an account's sessions", by: provider, instead: "Disable the account, or set a new password.")
    }

    public func customToken(
        for id: AuthUser.ID, claims: [String: DocumentValue]
    ) async throws(AuthError) -> Secret {
        throw .unsupported("custom tokens", by: provider, instead: "Send a link that signs in.")
    }

    public func link(_ kind: AccountLink, for email: String, redirectURL: URL?) async throws(AuthError) -> URL {
        throw .unsupported("links for accounts", by: provider, instead: "Have the provider send its own mail.")
    }

    public func importAccounts(_ accounts: [ImportedAccount]) async throws(AuthError) -> [AuthUser.ID: AuthError] {
        throw .unsupported("importing accounts", by: provider, instead: "Create them with new passwords.")
    }

    public func delete(_ ids: [AuthUser.ID]) async throws(AuthError) -> [AuthUser.ID: AuthError] {
        let results = try await each(ids) { id throws(AuthError) in try await delete(id) }
        var failures: [AuthUser.ID: AuthError] = [:]
        for (id, result) in zip(ids, results) {
            if case .failure(let error) = result, error.code != .userNotFound { failures[id] = error }
        }
        return failures
    }
}

public import Foundation

/// The accounts of a project, for its servers and tools: whoever holds one may do everything with everybody's account. What it
/// takes, a service account or a service key, must never be in an app.
///
/// ```swift
/// let admin = try await backend.admin()
/// let alice = try await admin.create(NewAccount(email: "alice@example.com", password: "long enough"))
/// try await admin.update(alice.id, AccountEdit(claims: ["role": "authenticated"]))
/// for try await page in admin.accountPages() { report(page.accounts) }
/// ```
/// Calls on an account that is not there throw `.userNotFound`. A key that the project does not take is `.unauthenticated`.
public protocol AdminClient: Sendable {
    var provider: InfrastructureProvider { get }
    var capabilities: AdminCapabilities { get }

    /// Accounts by what they are known by, in the order asked for; `nil` for one that is not there.
    func accounts(_ keys: [AccountKey]) async throws(AuthError) -> [ManagedAccount?]

    /// Some of all accounts. However many come and go meanwhile, pages that continue each other show every account that is there
    /// all the time, and show none twice.
    ///
    /// - Parameters:
    ///   - cursor: Where the page before ended; `nil` for the first.
    ///   - limit: How many at most, from 1 to 1000.
    func accountPage(after cursor: AccountCursor?, limit: Int) async throws(AuthError) -> AccountPage

    /// - Throws: `.emailInUse`; `.identityInUse` where the ID or the telephone number is taken; `.weakPassword`;
    ///   `.invalidArgument` for what can be no address, number or ID.
    @discardableResult
    func create(_ account: NewAccount) async throws(AuthError) -> ManagedAccount

    /// Changes at once, without a mail to anybody. A new password ends sessions where the provider does so.
    @discardableResult
    func update(_ id: AuthUser.ID, _ edit: AccountEdit) async throws(AuthError) -> ManagedAccount

    func delete(_ id: AuthUser.ID) async throws(AuthError)

    /// Deletes many. One that is not there counts as deleted.
    ///
    /// - Returns: Why accounts were not deleted.
    func delete(_ ids: [AuthUser.ID]) async throws(AuthError) -> [AuthUser.ID: AuthError]

    /// Ends every session of an account. Tokens that are out already are good until they expire, mostly within an hour, where
    /// nobody asks whether they were revoked.
    func endSessions(of id: AuthUser.ID) async throws(AuthError)

    /// A token with which an app signs in as this person, who may not exist yet. It is good for some minutes up to an hour.
    ///
    /// - Parameters:
    ///   - id: Whose session it will be.
    ///   - claims: What the session's tokens say beside what all say.
    func customToken(for id: AuthUser.ID, claims: [String: DocumentValue]) async throws(AuthError) -> Secret

    /// What a mail to the owner of an account would have in it, without the mail: send it yourself.
    ///
    /// - Parameters:
    ///   - kind: What the link does.
    ///   - email: The address of an account.
    ///   - redirectURL: Where the page behind the link leads.
    func link(_ kind: AccountLink, for email: String, redirectURL: URL?) async throws(AuthError) -> URL

    /// Takes over accounts that another service has kept, with their IDs and the hashes of their passwords.
    ///
    /// - Returns: Why accounts were not taken over. An account with a known ID is refused, not replaced.
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

public import Foundation

extension AdminClient {
    /// - Throws: `.userNotFound`.
    public func account(_ id: AuthUser.ID) async throws(AuthError) -> ManagedAccount { try await account(.id(id)) }

    /// - Throws: `.userNotFound`.
    public func account(email: String) async throws(AuthError) -> ManagedAccount { try await account(.email(email)) }

    /// - Throws: `.userNotFound`.
    public func account(phoneNumber: String) async throws(AuthError) -> ManagedAccount {
        try await account(.phoneNumber(phoneNumber))
    }

    private func account(_ key: AccountKey) async throws(AuthError) -> ManagedAccount {
        guard let account = try await accounts([key])[0] else {
            throw AuthError(.userNotFound, "There is no account with \(key).")
        }
        return account
    }

    public func setDisabled(_ isDisabled: Bool, _ id: AuthUser.ID) async throws(AuthError) {
        try await update(id, AccountEdit(isDisabled: isDisabled))
    }

    /// Replaces all claims of an account. Tokens contain them after their next refresh.
    public func setClaims(_ claims: [String: DocumentValue], of id: AuthUser.ID) async throws(AuthError) {
        try await update(id, AccountEdit(claims: claims))
    }

    public func customToken(for id: AuthUser.ID) async throws(AuthError) -> Secret {
        try await customToken(for: id, claims: [:])
    }

    public func link(_ kind: AccountLink, for email: String) async throws(AuthError) -> URL {
        try await link(kind, for: email, redirectURL: nil)
    }

    /// All accounts, page by page; each page is read on demand.
    ///
    /// - Parameters:
    ///   - cursor: Where to continue, from a page of an earlier run.
    ///   - size: The maximum number of accounts per page, from 1 to 1000.
    public func accountPages(after cursor: AccountCursor? = nil, size: Int = 500) -> AccountPages {
        AccountPages(client: self, cursor: cursor, size: size)
    }

    // MARK: Many

    /// Creates many accounts, several at a time.
    ///
    /// - Returns: The outcome for each, in the given order.
    public func create(_ accounts: [NewAccount]) async throws(AuthError) -> [Result<ManagedAccount, AuthError>] {
        try await each(accounts) { account throws(AuthError) in try await create(account) }
    }

    /// Changes many accounts in the same way, several at a time.
    ///
    /// - Returns: The outcome for each, in the given order.
    public func update(
        _ ids: [AuthUser.ID], _ edit: AccountEdit
    ) async throws(AuthError) -> [Result<ManagedAccount, AuthError>] {
        try await each(ids) { id throws(AuthError) in try await update(id, edit) }
    }

    /// Makes one call for each item, four at a time. After the caller is cancelled, no more calls begin.
    package func each<Item: Sendable, Value: Sendable>(
        _ items: [Item], _ body: @escaping @Sendable (Item) async throws(AuthError) -> Value
    ) async throws(AuthError) -> [Result<Value, AuthError>] { await items.outcomes(atOnce: 4, body) }
}

/// All accounts of a project, page by page.
public struct AccountPages: AsyncSequence, Sendable {
    public typealias Element = AccountPage
    public typealias Failure = AuthError

    let client: any AdminClient
    let cursor: AccountCursor?
    let size: Int

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: self, cursor: cursor) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let pages: AccountPages
        fileprivate var cursor: AccountCursor?
        private var isAtEnd = false

        fileprivate init(pages: AccountPages, cursor: AccountCursor?) {
            self.pages = pages
            self.cursor = cursor
        }

        /// After a failure, you can try the same page again.
        public mutating func next() async throws(AuthError) -> AccountPage? { try await next(isolation: nil) }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(AuthError) -> AccountPage? {
            guard !isAtEnd else { return nil }
            guard !Task.isCancelled else { throw AuthError(.cancelled, "The call was cancelled.") }
            let page = try await pages.client.accountPage(after: cursor, limit: pages.size)
            cursor = page.next
            isAtEnd = page.next == nil
            return page.accounts.isEmpty && isAtEnd ? nil : page
        }
    }
}

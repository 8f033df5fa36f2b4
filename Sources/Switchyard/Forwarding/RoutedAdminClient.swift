package import Foundation

/// Forwards every call along the route.
///
/// Reads and idempotent calls may be repeated. Creating an account may not: the second attempt would find the address taken.
extension Routed: AdminClient where Client == any AdminClient {
    package var provider: InfrastructureProvider { route.client?.provider ?? .unavailable }
    package var capabilities: AdminCapabilities { route.client?.capabilities ?? AdminCapabilities() }

    package func accounts(_ keys: [AccountKey]) async throws(AuthError) -> [ManagedAccount?] {
        try await route.call(.repeatable("accounts")) { admin throws(AuthError) in try await admin.accounts(keys) }
    }
    package func accountPage(after cursor: AccountCursor?, limit: Int) async throws(AuthError) -> AccountPage {
        try await route.call(.repeatable("account page")) { admin throws(AuthError) in
            try await admin.accountPage(after: cursor, limit: limit)
        }
    }
    @discardableResult
    package func create(_ account: NewAccount) async throws(AuthError) -> ManagedAccount {
        try await route.call("create account") { admin throws(AuthError) in try await admin.create(account) }
    }
    @discardableResult
    package func update(_ id: AuthUser.ID, _ edit: AccountEdit) async throws(AuthError) -> ManagedAccount {
        try await route.call(.repeatable("update account")) { admin throws(AuthError) in
            try await admin.update(id, edit)
        }
    }
    package func delete(_ id: AuthUser.ID) async throws(AuthError) {
        try await route.call("delete account") { admin throws(AuthError) in try await admin.delete(id) }
    }
    package func delete(_ ids: [AuthUser.ID]) async throws(AuthError) -> [AuthUser.ID: AuthError] {
        try await route.call(.repeatable("delete accounts")) { admin throws(AuthError) in try await admin.delete(ids) }
    }
    package func endSessions(of id: AuthUser.ID) async throws(AuthError) {
        try await route.call(.repeatable("end sessions")) { admin throws(AuthError) in
            try await admin.endSessions(of: id)
        }
    }
    package func customToken(for id: AuthUser.ID, claims: [String: DocumentValue]) async throws(AuthError) -> Secret {
        try await route.call(.repeatable("custom token")) { admin throws(AuthError) in
            try await admin.customToken(for: id, claims: claims)
        }
    }
    package func link(_ kind: AccountLink, for email: String, redirectURL: URL?) async throws(AuthError) -> URL {
        try await route.call(.repeatable("account link")) { admin throws(AuthError) in
            try await admin.link(kind, for: email, redirectURL: redirectURL)
        }
    }
    package func importAccounts(_ accounts: [ImportedAccount]) async throws(AuthError) -> [AuthUser.ID: AuthError] {
        try await route.call("import accounts") { admin throws(AuthError) in try await admin.importAccounts(accounts) }
    }
}

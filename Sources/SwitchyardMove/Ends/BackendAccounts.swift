import Foundation
import Switchyard
import SwitchyardBytes

/// The accounts of a backend.
struct BackendAccounts: MoveAccounts {
    let admin: any AdminClient
    /// By account, from elsewhere.
    let hashes: [AuthUser.ID: PasswordHash]

    var passwordHashes: Set<PasswordHash.Kind> { admin.capabilities.passwordHashes }

    /// Supabase stores them as UUIDs.
    func accepts(_ id: AuthUser.ID) -> Bool { admin.provider.rawValue != "supabase" || UUID(uuidString: id) != nil }

    func page(after place: String?, limit: Int) async throws -> MovedAccountPage {
        let page = try await admin.accountPage(after: place.map(AccountCursor.init(rawValue:)), limit: limit)
        return MovedAccountPage(page.accounts.map(moved), place: page.next?.rawValue)
    }

    func accounts(_ ids: [AuthUser.ID]) async throws -> [MovedAccount?] {
        try await admin.accounts(ids.map { .id($0) }).map { $0.map(moved) }
    }

    private func moved(_ account: ManagedAccount) -> MovedAccount {
        MovedAccount(account, passwordHash: hashes[account.id])
    }

    func add(_ accounts: [MovedAccount], page: String) async throws -> [AccountOutcome] {
        var outcomes = [AccountOutcome?](repeating: nil, count: accounts.count)
        if !passwordHashes.isEmpty {
            let failures = try await admin.importAccounts(accounts.map { imported($0, id: $0.id) })
            for (index, account) in accounts.enumerated() where failures[account.id] == nil { outcomes[index] = .kept }
        }
        for (index, account) in accounts.enumerated() where outcomes[index] == nil {
            outcomes[index] = try await add(account)
        }
        return outcomes.compactMap(\.self)
    }

    /// Adds one account that could not be imported: with its ID, else with the one that is derived from it.
    private func add(_ account: MovedAccount) async throws(AuthError) -> AccountOutcome {
        if let existing = try await existing(account) { return existing == account.id ? .kept : .renamed(existing) }
        if try await create(account, id: account.id) == nil { return .kept }
        let id = account.derivedID
        return try await create(account, id: id).map { .rejected($0.message) } ?? .renamed(id)
    }

    /// - Returns: Why the backend rejects the account for good.
    private func create(_ account: MovedAccount, id: AuthUser.ID) async throws(AuthError) -> AuthError? {
        do throws(AuthError) {
            if passwordHashes.isEmpty {
                try await admin.create(account.new(id: id))
            } else if let failure = try await admin.importAccounts([imported(account, id: id)])[id] {
                throw failure
            }
            return nil
        } catch {
            guard error.concernsWrite else { throw error }
            return error
        }
    }

    /// The ID of the account that is there already, from an earlier run.
    private func existing(_ account: MovedAccount) async throws(AuthError) -> AuthUser.ID? {
        var keys: [AccountKey] = [.id(account.id), .id(account.derivedID)]
        if let email = account.account.email { keys.append(.email(email)) }
        if let number = account.account.user.phoneNumber { keys.append(.phoneNumber(number)) }
        for key in keys {
            do throws(AuthError) {
                if let found = try await admin.accounts([key])[0] { return found.id }
            } catch {
                // An ID that the backend could not have is that of no account.
                guard error.code == .invalidArgument else { throw error }
            }
        }
        return nil
    }

    private func imported(_ account: MovedAccount, id: AuthUser.ID) -> ImportedAccount {
        let hash = account.passwordHash.flatMap { passwordHashes.contains($0.kind) ? $0 : nil }
        return ImportedAccount(id: id, account.new(id: id), passwordHash: hash)
    }
}

extension MovedAccount {
    func new(id: AuthUser.ID) -> NewAccount {
        NewAccount(
            id: id, email: account.email, isEmailVerified: account.user.isEmailVerified,
            phoneNumber: account.user.phoneNumber, displayName: account.user.displayName,
            photoURL: account.user.photoURL, isDisabled: account.isDisabled, claims: account.claims)
    }

    /// The ID on backends that do not accept its own: a UUID made of the account's ID, so that a repeated run finds it.
    var derivedID: AuthUser.ID {
        var bytes = Array(SHA256.digest(of: Array(id.utf8)).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let hex = Array(Hex.encode(bytes))
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(hex[$0]) }.joined(separator: "-")
    }
}

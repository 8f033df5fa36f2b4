import Foundation
import Switchyard
import SwitchyardBytes

/// The server side of account management.
extension MockAccounts {
    // MARK: Finding

    func accounts(_ keys: [AccountKey]) -> [ManagedAccount?] {
        read { state in
            keys.map { key in
                let id: String? =
                    switch key {
                    case .id(let id): id
                    case .email(let email): state.account(withEmail: email.lowercased())
                    case .phoneNumber(let number): state.account(withPhoneNumber: number)
                    }
                return id.flatMap { state.accounts[$0] }?.managed
            }
        }
    }

    /// Accounts sorted by ID, starting after the cursor's.
    func page(after cursor: AccountCursor?, limit: Int) -> AccountPage {
        read { state in
            let ids = state.accounts.keys.filter { id in cursor.map { id > $0.rawValue } ?? true }.sorted()
            let accounts = ids.prefix(limit).compactMap { state.accounts[$0]?.managed }
            let next = ids.count > limit ? accounts.last.map { AccountCursor(rawValue: $0.id) } : nil
            return AccountPage(accounts: accounts, next: next)
        }
    }

    // MARK: Changing

    func create(_ new: NewAccount) throws(AuthError) -> ManagedAccount {
        let checked = try CheckedAccount(new, id: new.id)
        if let password = new.password { try MockAccounts.check(password) }
        return try add(checked) { account in
            if let password = new.password { account.setPassword(password) }
        }
    }

    /// Adds an account whose ID, address and number are unused.
    private func add(
        _ new: CheckedAccount, _ fill: (inout MockAccount) -> Void
    ) throws(AuthError) -> ManagedAccount {
        let (now, isAsked) = (now(), asksForConfirmation)
        return try change { (state) throws(AuthError) in
            guard state.accounts[new.id] == nil else { throw .identityTaken("ID") }
            if let email = new.email, state.account(withEmail: email) != nil { throw .emailInUse }
            if let number = new.values.phoneNumber, state.account(withPhoneNumber: number) != nil {
                throw .identityTaken("phone number")
            }
            var account = MockAccount(id: new.id, at: now.date)
            account.lastSignInAt = nil
            account.email = new.email
            account.setVerified(new.values.isEmailVerified, isAsked: isAsked)
            account.setPhoneNumber(new.values.phoneNumber)
            account.displayName = new.values.displayName.flatMap { $0.isEmpty ? nil : $0 }
            account.photoURL = new.values.photoURL
            account.isDisabled = new.values.isDisabled
            account.claims = new.claims
            fill(&account)
            state.accounts[account.id] = account
            return account.managed
        }
    }

    func update(_ id: AuthUser.ID, _ edit: AccountEdit) throws(AuthError) -> ManagedAccount {
        let email: String? = if let email = edit.email { try MockAccounts.checked(email) } else { nil }
        if let number = edit.phoneNumber { try MockAccounts.check(phoneNumber: number) }
        if let password = edit.password { try MockAccounts.check(password) }
        let claims: MockClaims? = if let claims = edit.claims { try MockClaims(checking: claims) } else { nil }
        let isAsked = asksForConfirmation
        return try change { (state) throws(AuthError) in
            guard var account = state.accounts[id] else { throw .noAccount }
            if let email {
                if let owner = state.account(withEmail: email), owner != id { throw .emailInUse }
                account.email = email
                account.newEmail = nil
            }
            if let number = edit.phoneNumber {
                if let owner = state.account(withPhoneNumber: number), owner != id {
                    throw .identityTaken("phone number")
                }
                account.setPhoneNumber(number)
            }
            if let isVerified = edit.isEmailVerified { account.setVerified(isVerified, isAsked: isAsked) }
            if let name = edit.displayName { account.displayName = name.isEmpty ? nil : name }
            if let url = edit.photoURL { account.photoURL = url }
            if let isDisabled = edit.isDisabled { account.isDisabled = isDisabled }
            if let claims { account.claims = claims }
            if let password = edit.password {
                account.setPassword(password)
                state.sessions = state.sessions.filter { $0.value.userID != id }
            }
            state.accounts[id] = account
            return account.managed
        }
    }

    func remove(_ id: AuthUser.ID) throws(AuthError) {
        try change { (state) throws(AuthError) in
            guard state.accounts.removeValue(forKey: id) != nil else { throw .noAccount }
            state.sessions = state.sessions.filter { $0.value.userID != id }
        }
    }

    /// Ends all sessions of an existing account.
    func endAllSessions(of id: AuthUser.ID) throws(AuthError) {
        guard read({ $0.accounts[id] }) != nil else { throw .noAccount }
        endSessions(of: id)
    }

    // MARK: Tokens and links

    /// Creates a custom token, valid for an hour.
    func customToken(for id: AuthUser.ID, claims: [String: DocumentValue]) throws(AuthError) -> Secret {
        try MockAccounts.check(id: id)
        let end = now().microseconds + 3_600_000_000
        let token = SignedToken("custom", ["sub": id, "exp": String(end)], custom: try MockClaims(checking: claims))
        return token.secret(key: read { $0.key })
    }

    func link(_ kind: AccountLink, for email: String, redirectURL: URL?) throws(AuthError) -> URL {
        let email = try MockAccounts.checked(email)
        guard read({ $0.account(withEmail: email) }) != nil else { throw .noAccount }
        let code = RandomID.make(length: 32)
        let page: (mail: MockMail.Kind, base: String, mode: String) =
            switch kind {
            case .passwordReset: (.passwordReset, "https://accounts.mock.invalid/reset", "resetPassword")
            case .emailConfirmation: (.addressConfirmation, "https://accounts.mock.invalid/confirm", "confirm")
            case .signIn: (.signInLink, redirectURL?.absoluteString ?? "https://accounts.mock.invalid/signin", "signIn")
            }
        var link = try URLQuery.url(page.base, ["mode": page.mode, "code": code])
        if let redirectURL, kind != .signIn {
            link = try URLQuery.url(link.absoluteString, ["redirect_to": redirectURL.absoluteString])
        }
        register(page.mail, of: email, code: code, id: code)
        return link
    }

    // MARK: Importing

    /// - Parameter kinds: The supported kinds of hashes.
    func take(_ imported: ImportedAccount, _ kinds: Set<PasswordHash.Kind>) throws(AuthError) {
        let new = try CheckedAccount(imported.account, id: imported.id)
        guard let hash = imported.passwordHash else {
            _ = try add(new) { _ in }
            return
        }
        let unsupported = AuthError.unsupported(
            "password hashes of “\(hash.kind.rawValue)”", by: .mock,
            instead: "Import the account without one, and send a link to a new password.")
        guard kinds.contains(hash.kind) else { throw unsupported }
        switch hash {
        case .bcrypt(let text):
            guard Bcrypt(text.reveal()) != nil else {
                throw AuthError(
                    .invalidArgument,
                    "The password's hash is not one of bcrypt, which is $2b$10$… with 53 letters behind.")
            }
            _ = try add(new) { account in account.setPassword(hash: text.reveal()) }
        case .pbkdf2SHA256(let digest, let salt, let rounds): try take(new, digest, salt, rounds)
        case .argon2, .keyedScrypt: throw unsupported
        }
    }

    private func take(_ new: CheckedAccount, _ digest: Secret, _ salt: Secret, _ rounds: Int) throws(AuthError) {
        guard let digest = Base64.decode(digest.reveal().utf8), let salt = Base64.decode(salt.reveal().utf8),
            !digest.isEmpty, (1...10_000_000).contains(rounds)
        else {
            throw AuthError(
                .invalidArgument, "A PBKDF2 hash and its salt are Base64 texts, with 1 to 10000000 rounds.")
        }
        _ = try add(new) { account in account.setPassword(digest: digest, salt: salt, rounds: rounds) }
    }

    static func check(id: AuthUser.ID) throws(AuthError) {
        guard (1...128).contains(id.count) else {
            throw AuthError(.invalidArgument, "An account's ID has 1 to 128 characters.")
        }
    }
}

/// A new account with validated values.
private struct CheckedAccount {
    let id: AuthUser.ID
    let email: String?
    let claims: MockClaims?
    let values: NewAccount

    init(_ values: NewAccount, id: AuthUser.ID?) throws(AuthError) {
        if let id { try MockAccounts.check(id: id) }
        if let number = values.phoneNumber { try MockAccounts.check(phoneNumber: number) }
        self.id = id ?? RandomID.make(length: 28)
        email = if let email = values.email { try MockAccounts.checked(email) } else { nil }
        claims = values.claims.isEmpty ? nil : try MockClaims(checking: values.claims)
        self.values = values
    }
}

extension MockAccount {
    fileprivate var managed: ManagedAccount {
        ManagedAccount(user, isDisabled: isDisabled, claims: claims?.values ?? [:])
    }

    fileprivate mutating func setVerified(_ isVerified: Bool, isAsked: Bool) {
        isEmailVerified = isVerified
        awaitsConfirmation = isAsked && !isVerified ? true : nil
    }

    fileprivate mutating func setPhoneNumber(_ number: String?) {
        phoneNumber = number
        identities[IdentityProvider.phone.rawValue] = number
    }
}

extension MockAccounts.State {
    fileprivate func account(withPhoneNumber number: String) -> String? {
        accounts.first { $0.value.phoneNumber == number }?.key
    }
}

extension AuthError {
    fileprivate static let noAccount = AuthError(.userNotFound, "There is no such account.")

    fileprivate static func identityTaken(_ what: String) -> AuthError {
        AuthError(.identityInUse, "An account with this \(what) already exists.")
    }
}

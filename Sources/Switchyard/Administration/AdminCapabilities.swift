/// What an ``AdminClient`` can do beyond finding, listing, making, changing and deleting accounts.
public struct AdminCapabilities: Sendable, Hashable {
    /// Whether all sessions of an account can be ended.
    public var endingSessions = false
    public var customTokens = false
    public var links: Set<AccountLink> = []
    /// The kinds of password hashes that accounts can be imported with; empty where nothing can be imported.
    public var passwordHashes: Set<PasswordHash.Kind> = []

    public init() {}
}

/// What a link in a mail to the owner of an account does.
public enum AccountLink: String, Sendable, Hashable, CaseIterable {
    case passwordReset
    /// Confirms the address of the account.
    case emailConfirmation
    case signIn
}

/// A password as another service has kept it.
public enum PasswordHash: Sendable, Hashable {
    /// As `$2b$10$…`, with the salt in it.
    case bcrypt(Secret)
    /// Hash and salt in base64.
    case pbkdf2SHA256(hash: Secret, salt: Secret, rounds: Int)

    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case bcrypt
        case pbkdf2SHA256
    }

    public var kind: Kind {
        switch self {
        case .bcrypt: .bcrypt
        case .pbkdf2SHA256: .pbkdf2SHA256
        }
    }
}

/// What an ``AdminClient`` supports beyond finding, listing, creating, changing and deleting accounts.
public struct AdminCapabilities: Sendable, Hashable {
    /// Whether all sessions of an account can be ended.
    public var endingSessions = false
    public var customTokens = false
    public var links: Set<AccountLink> = []
    /// The kinds of password hashes that can be imported; empty if accounts cannot be imported.
    public var passwordHashes: Set<PasswordHash.Kind> = []

    public init() {}
}

/// What a link in an email to the owner of an account does.
public enum AccountLink: String, Sendable, Hashable, CaseIterable {
    case passwordReset
    /// Confirms the address of the account.
    case emailConfirmation
    case signIn
}

/// A password hash from another service.
public enum PasswordHash: Sendable, Hashable {
    /// As `$2b$10$…`, with the salt in it.
    case bcrypt(Secret)
    /// As `$argon2id$v=19$m=65536,t=3,p=4$…$…`, with the salt in it.
    case argon2(Secret)
    /// Hash and salt in base64.
    case pbkdf2SHA256(hash: Secret, salt: Secret, rounds: Int)
    /// Hash and salt in Base64, of a scrypt whose result encrypts a key of the original project.
    case keyedScrypt(hash: Secret, salt: Secret, ScryptSettings)

    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case bcrypt
        case argon2
        case pbkdf2SHA256
        case keyedScrypt
    }

    /// The settings that all hashes of one project share; the account export shows them.
    public struct ScryptSettings: Sendable, Hashable {
        /// In base64.
        public var signerKey: Secret
        /// In base64.
        public var saltSeparator: Secret
        public var rounds: Int
        /// The base-2 logarithm of scrypt's parameter N.
        public var memoryCost: Int

        public init(signerKey: Secret, saltSeparator: Secret, rounds: Int = 8, memoryCost: Int = 14) {
            self.signerKey = signerKey
            self.saltSeparator = saltSeparator
            self.rounds = rounds
            self.memoryCost = memoryCost
        }
    }

    public var kind: Kind {
        switch self {
        case .bcrypt: .bcrypt
        case .argon2: .argon2
        case .pbkdf2SHA256: .pbkdf2SHA256
        case .keyedScrypt: .keyedScrypt
        }
    }
}

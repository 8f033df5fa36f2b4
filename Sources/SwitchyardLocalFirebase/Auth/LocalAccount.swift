import SwitchyardBytes
import SwitchyardServerKit

/// An account as stored by the auth service.
struct LocalAccount: Codable, Sendable {
    let id: String
    var email: String?
    var isEmailVerified = false
    /// The address before its first change.
    var initialEmail: String?
    var displayName: String?
    var photoURL: String?
    var screenName: String?
    var phoneNumber: String?
    var password: StoredPassword?
    /// In milliseconds, like all times here except ``validSince``.
    var passwordUpdatedAt: Int64?
    var usesEmailLink = false
    var isCustom = false
    /// `nil` until an administrator has said it.
    var isDisabled: Bool?
    /// Accounts at identity providers.
    var links: [ProviderLink] = []
    var factors: [SecondFactor] = []
    /// Claims that an administrator has added, as JSON text.
    var customAttributes: String?
    var createdAt: Int64
    /// `nil` for an imported account until someone signs in.
    var lastLoginAt: Int64?
    /// `nil` until tokens have been issued.
    var lastRefreshAt: Int64?
    /// In seconds; for readers of the account, since tokens are distinguished by ``stamp``.
    var validSince: Int64
    /// Whether an administrator has imported it: then more is shown. `nil` in folders of an earlier version.
    var isImported: Bool?
    var revocations = 0

    init(id: String, milliseconds: Int64) {
        self.id = id
        createdAt = milliseconds
        lastLoginAt = milliseconds
        validSince = milliseconds / 1000
    }

    struct ProviderLink: Codable, Sendable {
        let provider: String
        let rawID: String
        var email: String?
        var displayName: String?
        var photoURL: String?
        var screenName: String?

        var federatedID: String { provider == "google.com" ? "https://accounts.google.com/\(rawID)" : rawID }
    }

    struct SecondFactor: Codable, Sendable {
        let id: String
        var displayName: String?
        /// `nil` if an administrator has not set it.
        let enrolledAt: Int64?
        /// Set for a phone; otherwise there is a key.
        var phoneNumber: String?
        /// Set for an authenticator app.
        var key: [UInt8]?
        /// The last time step whose code was used, since no code is accepted twice.
        var lastStep: Int64?
    }

    /// Ends all sessions; tokens issued by the change itself carry the new stamp.
    mutating func revokeSessions(at seconds: Int64) {
        revocations += 1
        validSince = seconds
    }

    var isAnonymous: Bool {
        email == nil && password == nil && phoneNumber == nil && links.isEmpty && !isCustom
    }
}

/// A hashed password, so that it cannot be read even in the file of a development server.
struct StoredPassword: Codable, Sendable {
    private let salt: [UInt8]
    private let hash: [UInt8]

    init(_ password: String) {
        salt = ServerSigningKey.makeKey()
        hash = HMACSHA256.code(for: Array(password.utf8), key: salt)
    }

    func matches(_ password: String) -> Bool {
        HMACSHA256.areEqual(hash, HMACSHA256.code(for: Array(password.utf8), key: salt))
    }
}

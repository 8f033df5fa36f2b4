public import Foundation

/// The signed-in user, as the provider knows them.
public struct AuthUser: Sendable, Hashable, Identifiable {
    /// The provider's ID of the account. It never changes.
    public let id: String
    public var email: String?
    public var isEmailVerified: Bool
    public var phoneNumber: String?
    public var displayName: String?
    public var photoURL: URL?
    public var isAnonymous: Bool
    /// The ways in which this account can sign in.
    public var identities: [IdentityProvider]
    public var secondFactors: [SecondFactor]
    public var createdAt: Date?
    public var lastSignInAt: Date?

    public init(
        id: String, email: String? = nil, isEmailVerified: Bool = false, phoneNumber: String? = nil,
        displayName: String? = nil, photoURL: URL? = nil, isAnonymous: Bool = false,
        identities: [IdentityProvider] = [],
        secondFactors: [SecondFactor] = [], createdAt: Date? = nil, lastSignInAt: Date? = nil
    ) {
        self.id = id
        self.email = email
        self.isEmailVerified = isEmailVerified
        self.phoneNumber = phoneNumber
        self.displayName = displayName
        self.photoURL = photoURL
        self.isAnonymous = isAnonymous
        self.identities = identities
        self.secondFactors = secondFactors
        self.createdAt = createdAt
        self.lastSignInAt = lastSignInAt
    }
}

extension AuthUser: CustomStringConvertible {
    /// The account's ID only, to keep email addresses out of logs.
    public var description: String { "AuthUser(\(id))" }
}

/// A way to prove an identity: a password, or an identity provider such as Apple or Google.
public struct IdentityProvider: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { self.rawValue = value }
    public var description: String { rawValue }

    public static let password: IdentityProvider = "password"
    public static let emailLink: IdentityProvider = "emailLink"
    public static let phone: IdentityProvider = "phone"
    public static let apple: IdentityProvider = "apple.com"
    public static let google: IdentityProvider = "google.com"
}

/// A second factor that an account has enrolled.
public struct SecondFactor: Sendable, Hashable, Identifiable, Codable {
    public enum Kind: String, Sendable, Hashable, Codable {
        /// Codes from an authenticator app.
        case totp
        case phone
    }

    public let id: String
    public let kind: Kind
    public let displayName: String?

    public init(id: String, kind: Kind, displayName: String? = nil) {
        self.id = id
        self.kind = kind
        self.displayName = displayName
    }
}

public import Foundation

/// An account, as the project's own server sees it.
public struct ManagedAccount: Sendable, Hashable, Identifiable {
    /// What the account's owner sees of it.
    public var user: AuthUser
    /// Whether nobody can sign in to it, nor refresh a session.
    public var isDisabled: Bool
    /// What the account's tokens say beside what all say, such as `role`. Where in the token it stands is up to the provider.
    public var claims: [String: DocumentValue]

    public var id: AuthUser.ID { user.id }
    public var email: String? { user.email }

    public init(_ user: AuthUser, isDisabled: Bool = false, claims: [String: DocumentValue] = [:]) {
        self.user = user
        self.isDisabled = isDisabled
        self.claims = claims
    }
}

extension ManagedAccount: CustomStringConvertible {
    /// The account's ID only, to keep people's addresses out of logs.
    public var description: String { "ManagedAccount(\(id))" }
}

/// What an account is known by.
public enum AccountKey: Sendable, Hashable {
    case id(AuthUser.ID)
    case email(String)
    /// With its country code, as `+15550100`.
    case phoneNumber(String)
}

extension AccountKey: CustomStringConvertible {
    /// The ID, if it is one: addresses and numbers stay out of logs.
    public var description: String {
        switch self {
        case .id(let id): "the ID “\(id)”"
        case .email: "this address"
        case .phoneNumber: "this telephone number"
        }
    }
}

/// An account to be made. Without an address, a number and a password it can be signed in to with a custom token only.
public struct NewAccount: Sendable, Hashable {
    /// Made by the provider when left out; some take UUIDs only.
    public var id: AuthUser.ID?
    public var email: String?
    public var isEmailVerified: Bool
    /// With its country code, and known to be the person's.
    public var phoneNumber: String?
    public var password: Secret?
    public var displayName: String?
    public var photoURL: URL?
    public var isDisabled: Bool
    public var claims: [String: DocumentValue]

    public init(
        id: AuthUser.ID? = nil, email: String? = nil, isEmailVerified: Bool = false, phoneNumber: String? = nil,
        password: Secret? = nil, displayName: String? = nil, photoURL: URL? = nil, isDisabled: Bool = false,
        claims: [String: DocumentValue] = [:]
    ) {
        self.id = id
        self.email = email
        self.isEmailVerified = isEmailVerified
        self.phoneNumber = phoneNumber
        self.password = password
        self.displayName = displayName
        self.photoURL = photoURL
        self.isDisabled = isDisabled
        self.claims = claims
    }
}

/// What is changed about an account; what is left out stays.
public struct AccountEdit: Sendable, Hashable {
    public var email: String?
    public var isEmailVerified: Bool?
    public var phoneNumber: String?
    public var password: Secret?
    /// The empty name takes the present one away.
    public var displayName: String?
    public var photoURL: URL?
    public var isDisabled: Bool?
    /// In place of all that there are.
    public var claims: [String: DocumentValue]?

    public init(
        email: String? = nil, isEmailVerified: Bool? = nil, phoneNumber: String? = nil, password: Secret? = nil,
        displayName: String? = nil, photoURL: URL? = nil, isDisabled: Bool? = nil,
        claims: [String: DocumentValue]? = nil
    ) {
        self.email = email
        self.isEmailVerified = isEmailVerified
        self.phoneNumber = phoneNumber
        self.password = password
        self.displayName = displayName
        self.photoURL = photoURL
        self.isDisabled = isDisabled
        self.claims = claims
    }
}

/// An account that another service has kept.
public struct ImportedAccount: Sendable, Hashable {
    public var id: AuthUser.ID
    /// What the account is like; its `id` and its `password` do not count.
    public var account: NewAccount
    /// `nil` for an account without a password.
    public var passwordHash: PasswordHash?

    public init(id: AuthUser.ID, _ account: NewAccount, passwordHash: PasswordHash? = nil) {
        self.id = id
        self.account = account
        self.passwordHash = passwordHash
    }
}

/// Some of a project's accounts.
public struct AccountPage: Sendable, Hashable {
    public var accounts: [ManagedAccount]
    /// Where the next page begins; `nil` at the end.
    public var next: AccountCursor?

    public init(accounts: [ManagedAccount], next: AccountCursor?) {
        self.accounts = accounts
        self.next = next
    }
}

/// A place among a project's accounts. It can be kept, and gone on from by another process.
public struct AccountCursor: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

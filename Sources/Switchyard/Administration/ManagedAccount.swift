public import Foundation

/// An account, as the project's own server sees it.
public struct ManagedAccount: Sendable, Hashable, Identifiable {
    /// The account as its owner sees it.
    public var user: AuthUser
    /// Whether signing in and refreshing sessions is blocked.
    public var isDisabled: Bool
    /// Additional claims in the account's tokens, such as `role`. Their place in the token is up to the provider.
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
    /// The account's ID only, to keep email addresses out of logs.
    public var description: String { "ManagedAccount(\(id))" }
}

/// Identifies an account.
public enum AccountKey: Sendable, Hashable {
    case id(AuthUser.ID)
    case email(String)
    /// With its country code, as `+15550100`.
    case phoneNumber(String)
}

extension AccountKey: CustomStringConvertible {
    /// Shows only an ID, to keep addresses and numbers out of logs.
    public var description: String {
        switch self {
        case .id(let id): "the ID “\(id)”"
        case .email: "this address"
        case .phoneNumber: "this phone number"
        }
    }
}

/// An account to create. Without an address, a number and a password, users can sign in to it only with a custom token.
public struct NewAccount: Sendable, Hashable {
    /// By default, made by the provider; some accept only UUIDs.
    public var id: AuthUser.ID?
    public var email: String?
    public var isEmailVerified: Bool
    /// With its country code; counts as verified.
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

/// The changes to an account; `nil` properties stay as they are.
public struct AccountEdit: Sendable, Hashable {
    public var email: String?
    public var isEmailVerified: Bool?
    public var phoneNumber: String?
    public var password: Secret?
    /// An empty name removes the current one.
    public var displayName: String?
    public var photoURL: URL?
    public var isDisabled: Bool?
    /// Replaces all existing claims.
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

/// An account from another service.
public struct ImportedAccount: Sendable, Hashable {
    public var id: AuthUser.ID
    /// The account's data; its `id` and `password` are ignored.
    public var account: NewAccount
    /// `nil` for an account without a password.
    public var passwordHash: PasswordHash?

    public init(id: AuthUser.ID, _ account: NewAccount, passwordHash: PasswordHash? = nil) {
        self.id = id
        self.account = account
        self.passwordHash = passwordHash
    }
}

/// A page of a project's accounts.
public struct AccountPage: Sendable, Hashable {
    public var accounts: [ManagedAccount]
    /// Where the next page begins; `nil` at the end.
    public var next: AccountCursor?

    public init(accounts: [ManagedAccount], next: AccountCursor?) {
        self.accounts = accounts
        self.next = next
    }
}

/// A position in a project's accounts. You can store it, and continue from it in another process.
public struct AccountCursor: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

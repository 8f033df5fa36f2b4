public import Foundation

/// The claims of a valid token: who sent the request.
public struct VerifiedToken: Sendable {
    /// The token itself, to act for its user.
    public let token: Secret
    /// The provider that issued it.
    public let provider: InfrastructureProvider
    public let userID: AuthUser.ID
    /// The issuer named in the token.
    public let issuer: String
    public let issuedAt: Date?
    public let expiresAt: Date
    /// When the user signed in, which may be long before the token was issued.
    public let signedInAt: Date?
    public var email: String?
    /// Whether the issuer vouches for the address. Some issuers' tokens do not say it: then it is `false`, unless the account was
    /// looked up with `checksRevocation`.
    public var isEmailVerified: Bool
    public var phoneNumber: String?
    public var isAnonymous: Bool
    /// How the user signed in, if the token says so.
    public var identity: IdentityProvider?
    /// The token's role, as used by database policies.
    public var role: String?
    /// All claims of the token, including those above. Some may have been written by the user: decide nothing by those.
    public var claims: [String: DocumentValue] { readClaims() }
    /// A closure, because most requests read no claims.
    private let readClaims: @Sendable () -> [String: DocumentValue]

    public init(
        token: Secret, provider: InfrastructureProvider, userID: AuthUser.ID, issuer: String, issuedAt: Date? = nil,
        expiresAt: Date,
        signedInAt: Date? = nil, email: String? = nil, isEmailVerified: Bool = false, phoneNumber: String? = nil,
        isAnonymous: Bool = false, identity: IdentityProvider? = nil, role: String? = nil,
        claims: @escaping @autoclosure @Sendable () -> [String: DocumentValue] = [:]
    ) {
        self.token = token
        self.provider = provider
        self.userID = userID
        self.issuer = issuer
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.signedInAt = signedInAt
        self.email = email
        self.isEmailVerified = isEmailVerified
        self.phoneNumber = phoneNumber
        self.isAnonymous = isAnonymous
        self.identity = identity
        self.role = role
        readClaims = claims
    }
}

extension VerifiedToken: Hashable {
    /// Compares the tokens, which determine everything else.
    public static func == (left: VerifiedToken, right: VerifiedToken) -> Bool {
        left.token == right.token && left.provider == right.provider
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(token) }
}

extension VerifiedToken: CustomStringConvertible {
    /// The account's ID only.
    public var description: String { "VerifiedToken(\(userID))" }
}

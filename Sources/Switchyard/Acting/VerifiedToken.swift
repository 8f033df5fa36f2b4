public import Foundation

/// The claims of a valid token: who sent the request.
public struct VerifiedToken: Sendable {
    /// The token itself, to act for its user.
    public let token: Secret
    /// Whose tokens it is one of.
    public let provider: InfrastructureProvider
    public let userID: AuthUser.ID
    /// Who has given it out, as the token names them.
    public let issuer: String
    public let issuedAt: Date?
    public let expiresAt: Date
    /// When the person has signed in, which may be long before the token was given out.
    public let signedInAt: Date?
    public var email: String?
    public var isEmailVerified: Bool
    public var phoneNumber: String?
    public var isAnonymous: Bool
    /// How the person has signed in, where the token says it.
    public var identity: IdentityProvider?
    /// The role that the token names, as databases with policies know it.
    public var role: String?
    /// Everything that the token says, those above included.
    public var claims: [String: DocumentValue] { readClaims() }
    /// Most requests ask for none of them.
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
    /// What it says follows from the token.
    public static func == (left: VerifiedToken, right: VerifiedToken) -> Bool {
        left.token == right.token && left.provider == right.provider
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(token) }
}

extension VerifiedToken: CustomStringConvertible {
    /// The account's name only.
    public var description: String { "VerifiedToken(\(userID))" }
}

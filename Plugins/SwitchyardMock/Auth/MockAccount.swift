import Foundation
import Switchyard
import SwitchyardBytes

/// An account as stored on the server.
struct MockAccount: Sendable, Codable {
    struct Factor: Sendable, Codable {
        let factor: SecondFactor
        let key: [UInt8]
    }

    let id: String
    var email: String?
    var isEmailVerified = false
    /// Whether the account cannot sign in before its address is confirmed.
    var awaitsConfirmation: Bool?
    /// The new address, which replaces the current one when the link in its email is opened.
    var newEmail: String?
    var phoneNumber: String?
    var displayName: String?
    var photoURL: URL?
    var isAnonymous = false
    var isDisabled = false
    /// The subject of the account at each identity provider.
    var identities: [String: String] = [:]
    var factors: [Factor] = []
    var createdAt: Date
    /// `nil` if the account has never signed in.
    var lastSignInAt: Date?
    private var passwordSalt: [UInt8]?
    private var passwordDigest: [UInt8]?
    /// The number of hash rounds, if another service has hashed the password.
    private var passwordRounds: Int?
    /// The bcrypt hash of another service, instead of the values above.
    private var passwordHash: String?
    /// Additional claims for tokens; see ``MockClaims``.
    var claims: MockClaims?

    init(id: String, at date: Date) {
        self.id = id
        createdAt = date
        lastSignInAt = date
    }

    var user: AuthUser {
        AuthUser(
            id: id, email: email, isEmailVerified: isEmailVerified, phoneNumber: phoneNumber, displayName: displayName,
            photoURL: photoURL, isAnonymous: isAnonymous,
            identities: identities.keys.sorted().map { IdentityProvider(rawValue: $0) },
            secondFactors: factors.map(\.factor), createdAt: createdAt, lastSignInAt: lastSignInAt)
    }

    /// Confirms that the user owns the address.
    mutating func confirm(_ address: String) {
        if newEmail == address {
            email = address
            newEmail = nil
            isAnonymous = false
        }
        guard email == address else { return }
        isEmailVerified = true
        awaitsConfirmation = nil
    }

    /// Stores only a hash, since the password may be used elsewhere.
    mutating func setPassword(_ password: Secret) {
        let salt = Array(RandomID.make().utf8)
        passwordSalt = salt
        passwordDigest = HMACSHA256.code(for: Array(password.reveal().utf8), key: salt)
        passwordRounds = nil
        passwordHash = nil
        identities[IdentityProvider.password.rawValue] = email ?? id
    }

    /// Imports a password hashed by another service.
    mutating func setPassword(digest: [UInt8], salt: [UInt8], rounds: Int) {
        passwordSalt = salt
        passwordDigest = digest
        passwordRounds = rounds
        identities[IdentityProvider.password.rawValue] = email ?? id
    }

    /// - Parameter hash: A hash for ``Bcrypt``.
    mutating func setPassword(hash: String) {
        removePassword()
        passwordHash = hash
        identities[IdentityProvider.password.rawValue] = email ?? id
    }

    mutating func removePassword() {
        passwordHash = nil
        passwordSalt = nil
        passwordDigest = nil
        passwordRounds = nil
    }

    func accepts(_ password: Secret) -> Bool {
        let text = Array(password.reveal().utf8)
        if let passwordHash { return Bcrypt(passwordHash)?.accepts(text) ?? false }
        guard let passwordSalt, let passwordDigest else { return false }
        let digest =
            if let passwordRounds {
                PBKDF2.key(text, salt: passwordSalt, rounds: passwordRounds, length: passwordDigest.count)
            } else { HMACSHA256.code(for: text, key: passwordSalt) }
        return HMACSHA256.areEqual(digest, passwordDigest)
    }

    func accepts(oneTimeCode code: Secret, of factor: SecondFactor.ID, at now: Timestamp) -> Bool {
        guard let factor = factors.first(where: { $0.factor.id == factor }) else { return false }
        return OneTimeCode.step(of: code.reveal(), key: factor.key, at: now.seconds) != nil
    }
}

/// A session of a device, as stored on the server.
struct MockSession: Sendable, Codable {
    let refreshToken: String
    let userID: String
    /// When the user last authenticated.
    var provedAt: Timestamp
    let expiresAt: Timestamp?
    /// The claims of the custom token that started the session, included in its tokens.
    let claims: MockClaims?

    private enum CodingKeys: String, CodingKey { case refreshToken, userID, provedAt, expiresAt, claims }

    init(
        refreshToken: String, userID: String, provedAt: Timestamp, expiresAt: Timestamp?, claims: MockClaims? = nil
    ) {
        self.refreshToken = refreshToken
        self.userID = userID
        self.provedAt = provedAt
        self.expiresAt = expiresAt
        self.claims = claims
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        refreshToken = try values.decode(String.self, forKey: .refreshToken)
        userID = try values.decode(String.self, forKey: .userID)
        provedAt = Timestamp(microseconds: try values.decode(Int64.self, forKey: .provedAt))
        expiresAt = try values.decodeIfPresent(Int64.self, forKey: .expiresAt).map { Timestamp(microseconds: $0) }
        claims = try values.decodeIfPresent(MockClaims.self, forKey: .claims)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(refreshToken, forKey: .refreshToken)
        try values.encode(userID, forKey: .userID)
        try values.encode(provedAt.microseconds, forKey: .provedAt)
        try values.encodeIfPresent(expiresAt?.microseconds, forKey: .expiresAt)
        try values.encodeIfPresent(claims, forKey: .claims)
    }
}

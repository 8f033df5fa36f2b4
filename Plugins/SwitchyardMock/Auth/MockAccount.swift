import Foundation
import Switchyard
import SwitchyardBytes

/// An account as the server keeps it.
struct MockAccount: Sendable, Codable {
    struct Factor: Sendable, Codable {
        let factor: SecondFactor
        let key: [UInt8]
    }

    let id: String
    var email: String?
    var isEmailVerified = false
    /// Whether the account lets nobody in before its address is confirmed.
    var awaitsConfirmation: Bool?
    /// The address that takes the other's place when its mail is opened.
    var newEmail: String?
    var phoneNumber: String?
    var displayName: String?
    var photoURL: URL?
    var isAnonymous = false
    var isDisabled = false
    /// Who vouches for the account, and the name they know it by.
    var identities: [String: String] = [:]
    var factors: [Factor] = []
    var createdAt: Date
    /// `nil` for somebody who has not come yet.
    var lastSignInAt: Date?
    private var passwordSalt: [UInt8]?
    private var passwordDigest: [UInt8]?
    /// How often the password was hashed, where another service has done that.
    private var passwordRounds: Int?
    /// In place of all of these, where another service has hashed it with bcrypt.
    private var passwordHash: String?
    /// What tokens say beside what all say; see ``MockClaims``.
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

    /// Somebody has shown that the address is theirs.
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

    /// Even a mock's folder holds no password that somebody may use elsewhere.
    mutating func setPassword(_ password: Secret) {
        let salt = Array(RandomID.make().utf8)
        passwordSalt = salt
        passwordDigest = HMACSHA256.code(for: Array(password.reveal().utf8), key: salt)
        passwordRounds = nil
        passwordHash = nil
        identities[IdentityProvider.password.rawValue] = email ?? id
    }

    /// Takes a password over as another service has kept it.
    mutating func setPassword(digest: [UInt8], salt: [UInt8], rounds: Int) {
        passwordSalt = salt
        passwordDigest = digest
        passwordRounds = rounds
        identities[IdentityProvider.password.rawValue] = email ?? id
    }

    /// - Parameter hash: Of ``Bcrypt``.
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

/// A device that is signed in, as the server knows it.
struct MockSession: Sendable, Codable {
    let refreshToken: String
    let userID: String
    /// When the person last proved who they are.
    var provedAt: Timestamp
    let expiresAt: Timestamp?
    /// What the custom token said with which it began; its own tokens say so too.
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

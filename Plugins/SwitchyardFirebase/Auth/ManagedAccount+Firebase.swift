import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP

extension ManagedAccount {
    /// `nil` if the JSON is not an account.
    init?(firebase json: JSON) {
        guard let id = json["localId"]?.string else { return nil }
        func date(_ name: String) -> Date? {
            (json[name]?.string.flatMap { Double($0) } ?? json[name]?.double).map {
                Date(timeIntervalSince1970: $0 / 1000)
            }
        }
        let providers = (json["providerUserInfo"]?.array ?? []).compactMap { $0["providerId"]?.string }
        var identities = providers.map { IdentityProvider(rawValue: $0) }
        if json["emailLinkSignin"]?.bool == true { identities.append(.emailLink) }
        let claims = json["customAttributes"]?.string.flatMap { try? JSON(parsing: Array($0.utf8)) }?.object ?? [:]
        self.init(
            AuthUser(
                id: id, email: json["email"]?.string, isEmailVerified: json["emailVerified"]?.bool ?? false,
                phoneNumber: json["phoneNumber"]?.string, displayName: json["displayName"]?.string,
                photoURL: json["photoUrl"]?.string.flatMap { URL(string: $0) },
                // An account created without any data, and never used, is not anonymous.
                isAnonymous: providers.isEmpty && json["email"] == nil && json["customAuth"]?.bool != true
                    && json["lastRefreshAt"] != nil,
                identities: identities, secondFactors: SecondFactor.list(firebase: json["mfaInfo"]),
                createdAt: date("createdAt"),
                lastSignInAt: date("lastLoginAt").flatMap { $0.timeIntervalSince1970 > 0 ? $0 : nil }),
            isDisabled: json["disabled"]?.bool ?? false,
            claims: Dictionary(claims.map { ($0.key, DocumentValue($0.value)) }) { _, last in last })
    }
}

extension NewAccount {
    /// Without the claims.
    var firebase: JSONObject {
        var body: JSONObject = [:]
        body["localId"] = id.map { .string($0) }
        body["email"] = email.map { .string($0) }
        if email != nil { body["emailVerified"] = .bool(isEmailVerified) }
        body["phoneNumber"] = phoneNumber.map { .string($0) }
        body["password"] = password.map { .string($0.reveal()) }
        body["displayName"] = displayName.map { .string($0) }
        body["photoUrl"] = photoURL.map { .string($0.absoluteString) }
        if isDisabled { body["disabled"] = true }
        return body
    }
}

extension AccountEdit {
    /// Without the claims.
    var firebase: JSONObject {
        var body: JSONObject = [:]
        body["email"] = email.map { .string($0) }
        body["emailVerified"] = isEmailVerified.map { .bool($0) }
        body["phoneNumber"] = phoneNumber.map { .string($0) }
        body["password"] = password.map { .string($0.reveal()) }
        if displayName == "" {
            body["deleteAttribute"] = ["DISPLAY_NAME"]
        } else {
            body["displayName"] = displayName.map { .string($0) }
        }
        body["photoUrl"] = photoURL.map { .string($0.absoluteString) }
        body["disableUser"] = isDisabled.map { .bool($0) }
        return body
    }
}

extension PasswordHash {
    /// The parameters shared by all accounts of a call.
    var firebaseParameters: JSONObject {
        get throws(AuthError) {
            switch self {
            case .bcrypt: return ["hashAlgorithm": "BCRYPT"]
            case .argon2:
                throw .unsupported(
                    "password hashes of “\(kind.rawValue)”", by: .firebase,
                    instead: "Import the account without one, and send a link to a new password.")
            case .pbkdf2SHA256(_, _, let rounds):
                return ["hashAlgorithm": "PBKDF2_SHA256", "rounds": .integer(Int64(rounds))]
            case .keyedScrypt(_, _, let settings):
                guard let key = Base64.decode(settings.signerKey.reveal()), !key.isEmpty,
                    let separator = Base64.decode(settings.saltSeparator.reveal()), (1...8).contains(settings.rounds),
                    (1...14).contains(settings.memoryCost)
                else {
                    throw AuthError(
                        .invalidArgument,
                        "The signer key and the separator of scrypt must be base64, the rounds 1 to 8 and the memory cost 1 to 14."
                    )
                }
                return [
                    "hashAlgorithm": "SCRYPT", "signerKey": .string(Base64.encode(key, alphabet: .url)),
                    "saltSeparator": .string(Base64.encode(separator, alphabet: .url)),
                    "rounds": .integer(Int64(settings.rounds)), "memoryCost": .integer(Int64(settings.memoryCost)),
                ]
            }
        }
    }
}

extension JSONObject {
    /// - Throws: `.invalidArgument` for a value that a token cannot carry.
    init(claims: [String: DocumentValue]) throws(AuthError) {
        self.init()
        for (name, value) in claims.sorted(by: { $0.key < $1.key }) {
            self[name] = try JSON(claim: value, named: name)
        }
    }
}

extension JSON {
    /// - Throws: `.invalidArgument` for a value that a token cannot carry.
    fileprivate init(claim value: DocumentValue, named name: String) throws(AuthError) {
        switch value {
        case .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .integer(let number): self = .integer(number)
        case .double(let number) where number.isFinite: self = .number(number)
        case .string(let text): self = .string(text)
        case .array(let values):
            self = .array(try values.map { value throws(AuthError) in try JSON(claim: value, named: name) })
        case .map(let data):
            self = .object(
                JSONObject(
                    try data.map { pair throws(AuthError) in
                        (key: pair.name, value: try JSON(claim: pair.value, named: name))
                    }))
        default:
            throw AuthError(
                .invalidArgument,
                "The claim “\(name)” has a value that tokens cannot carry. Use strings, numbers, lists and maps.")
        }
    }
}

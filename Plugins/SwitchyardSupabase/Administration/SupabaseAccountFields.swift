import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP

/// The fields sent for an account. The service treats empty text as absent and accepts any password from an administrator, so
/// invalid values are refused here.
struct SupabaseAccountFields {
    private(set) var json: JSONObject = [:]

    init(_ account: NewAccount) throws(AuthError) {
        try set(email: account.email, phone: account.phoneNumber, account.password)
        if account.isEmailVerified, account.email != nil { json["email_confirm"] = true }
        try set(account.displayName, account.photoURL)
        if account.isDisabled { set(isDisabled: true) }
        let claims = try ManagedAccount.supabase(claims: account.claims)
        if !claims.isEmpty { json["app_metadata"] = .object(claims) }
    }

    /// - Parameter current: The current account, needed for new claims.
    init(_ edit: AccountEdit, of current: JSON?) throws(AuthError) {
        try set(email: edit.email, phone: edit.phoneNumber, edit.password)
        if edit.isEmailVerified == true { json["email_confirm"] = true }
        try set(edit.displayName, edit.photoURL)
        if let isDisabled = edit.isDisabled { set(isDisabled: isDisabled) }
        guard let claims = edit.claims else { return }
        // Claims are merged with the existing ones; null removes one.
        var object = try ManagedAccount.supabase(claims: claims)
        for old in current?["app_metadata"]?.object ?? [:]
        where object[old.key] == nil && !ManagedAccount.serviceClaims.contains(old.key) { object[old.key] = .null }
        if !object.isEmpty { json["app_metadata"] = .object(object) }
    }

    mutating func set(id: AuthUser.ID) throws(AuthError) {
        guard Self.isID(id) else {
            throw AuthError(.invalidArgument, "Supabase's accounts have UUIDs as IDs; “\(id)” is not one.")
        }
        json["id"] = .string(id.lowercased())
    }

    mutating func set(hash: Secret) { json["password_hash"] = .string(hash.reveal()) }

    private mutating func set(email: String?, phone: String?, _ password: Secret?) throws(AuthError) {
        if let email {
            try Self.check(email: email)
            json["email"] = .string(email)
        }
        if let phone {
            guard let digits = Self.digits(ofPhone: phone) else {
                throw AuthError(
                    .invalidArgument, "This is not a phone number with a country code, such as +15550100.")
            }
            json["phone"] = .string(digits)
            json["phone_confirm"] = true
        }
        if let password {
            guard (6...72).contains(password.reveal().utf8.count) else {
                throw AuthError(.weakPassword, "The password has fewer than 6 bytes or more than 72.")
            }
            json["password"] = .string(password.reveal())
        }
    }

    private mutating func set(_ displayName: String?, _ photoURL: URL?) throws(AuthError) {
        var own: JSONObject = [:]
        own["full_name"] = displayName.map { $0.isEmpty ? .null : .string($0) }
        own["avatar_url"] = photoURL.map { .string($0.absoluteString) }
        if !own.isEmpty { json["user_metadata"] = .object(own) }
    }

    /// An account cannot be disabled forever, so it is banned for a hundred years.
    private mutating func set(isDisabled: Bool) { json["ban_duration"] = isDisabled ? "876000h" : "none" }

    // MARK: Validation

    /// - Throws: `.invalidArgument`. The service validates more strictly.
    static func check(email: String) throws(AuthError) {
        guard isEmail(email) else { throw AuthError(.invalidArgument, "This is not an email address.") }
    }

    static func isEmail(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && !text.includes(" ")
    }

    static func isID(_ text: String) -> Bool { UUID(uuidString: text) != nil }

    /// A number as the service stores it: digits without the plus sign. `nil` unless it is a number with a country code.
    static func digits(ofPhone text: String) -> String? {
        let digits = text.dropFirst().filter { $0 != " " }
        guard text.hasPrefix("+"), (2...15).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (48...57).contains($0) }),
            digits.first != "0"
        else { return nil }
        return String(digits)
    }
}

extension ManagedAccount {
    /// `nil` if the JSON is not an account, or is the remainder of a soft-deleted one.
    init?(supabase json: JSON, at now: Timestamp) {
        guard let user = AuthUser(supabase: json), json["deleted_at"]?.string == nil else { return nil }
        let end = json["banned_until"]?.string.flatMap { RFC3339.parse($0) }
        var claims: [String: DocumentValue] = [:]
        for member in json["app_metadata"]?.object ?? [:] where !Self.serviceClaims.contains(member.key) {
            claims[member.key] = DocumentValue(member.value)
        }
        self.init(
            user, isDisabled: end.map { ($0.seconds, $0.nanoseconds) > (now.seconds, now.nanoseconds) } ?? false,
            claims: claims)
    }

    /// The claims that the service itself stores beside the project's.
    static let serviceClaims: Set<String> = ["provider", "providers"]

    /// Claims as the service expects them.
    ///
    /// - Throws: `.invalidArgument` for a value that would not come back unchanged.
    static func supabase(claims: [String: DocumentValue]) throws(AuthError) -> JSONObject {
        var object: JSONObject = [:]
        for (name, value) in claims.sorted(by: { $0.key < $1.key }) {
            guard !serviceClaims.contains(name) else {
                throw AuthError(
                    .invalidArgument, "The claim “\(name)” is reserved by Supabase. Choose another name.")
            }
            guard let json = JSON(claim: value) else {
                throw AuthError(
                    .invalidArgument,
                    "The claim “\(name)” has a value that tokens cannot carry. Use text, numbers up to 2⁵³, true and false, "
                        + "null, lists and maps.")
            }
            object[name] = json
        }
        return object
    }
}

extension JSON {
    /// `nil` if the value, or a value within it, has no plain JSON form. The service reads numbers as 64-bit floating point.
    fileprivate init?(claim value: DocumentValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value) where value.magnitude <= 1 << 53: self = .integer(value)
        case .double(let value) where value.isFinite: self = .number(value)
        case .string(let value): self = .string(value)
        case .array(let elements):
            let values = elements.compactMap { JSON(claim: $0) }
            guard values.count == elements.count else { return nil }
            self = .array(values)
        case .map(let data):
            var object: JSONObject = [:]
            for (name, value) in data {
                guard let json = JSON(claim: value) else { return nil }
                object[name] = json
            }
            self = .object(object)
        case .integer, .double, .timestamp, .bytes, .reference, .geoPoint, .vector: return nil
        }
    }
}

extension PasswordHash {
    /// The hash as the service reads it. The service would store an unreadable hash, or report an internal error.
    ///
    /// - Throws: `.invalidArgument`; `.unsupported` for a kind that the service does not know.
    var supabase: Secret {
        get throws(AuthError) {
            switch self {
            case .bcrypt(let hash):
                guard Self.isBcrypt(hash.reveal()) else {
                    throw AuthError(
                        .invalidArgument,
                        "The password's hash is not one of bcrypt, which is $2b$10$… with 53 letters behind.")
                }
                return hash
            case .argon2(let hash):
                guard Self.isArgon2(hash.reveal()) else {
                    throw AuthError(
                        .invalidArgument,
                        "The password's hash is not one of Argon2i or Argon2id, as $argon2id$v=19$m=…,t=…,p=…$salt$hash."
                    )
                }
                return hash
            case .keyedScrypt(let hash, let salt, let settings): return try Self.keyedScrypt(hash, salt, settings)
            case .pbkdf2SHA256:
                throw AuthError.unsupported(
                    "hashes of passwords by PBKDF2", by: .supabase,
                    instead: "Import the account without one, and send a link for a new password.")
            }
        }
    }

    private static func keyedScrypt(
        _ hash: Secret, _ salt: Secret, _ settings: ScryptSettings
    ) throws(AuthError) -> Secret {
        let (hash, salt) = (hash.reveal(), salt.reveal())
        let (key, separator) = (settings.signerKey.reveal(), settings.saltSeparator.reveal())
        guard ![hash, salt, key].contains(""), [hash, salt, key, separator].allSatisfy({ Base64.decode($0) != nil }),
            (1...64).contains(settings.rounds), (1...20).contains(settings.memoryCost)
        else {
            throw AuthError(
                .invalidArgument,
                "A hash of scrypt, its salt, its signer key and its separator are Base64 texts, with 1 to 64 rounds and a memory "
                    + "cost of 1 to 20.")
        }
        let separation = separator.isEmpty ? "" : ",ss=\(separator)"
        return Secret(
            "$fbscrypt$v=1,n=\(settings.memoryCost),r=\(settings.rounds),p=1\(separation),sk=\(key)$\(salt)$\(hash)")
    }

    private static func isBcrypt(_ hash: String) -> Bool {
        let parts = hash.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].isEmpty, ["2a", "2b", "2y"].contains(parts[1]), parts[2].utf8.count == 2,
            let rounds = Int(parts[2]), (4...31).contains(rounds), parts[3].utf8.count == 53
        else { return false }
        return parts[3].utf8.allSatisfy {
            (46...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
        }
    }

    /// The service supports neither Argon2d nor any version but the latest.
    private static func isArgon2(_ hash: String) -> Bool {
        let parts = hash.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].isEmpty, ["argon2i", "argon2id"].contains(parts[1]), parts[2] == "v=19",
            [parts[4], parts[5]].allSatisfy({ part in
                !part.isEmpty && Base64.decode(String(part), padding: .optional) != nil
            })
        else { return false }
        let numbers = parts[3].split(separator: ",", omittingEmptySubsequences: false)
        return numbers.count == 3
            && zip(numbers, ["m=", "t=", "p="]).allSatisfy { text, name in
                text.hasPrefix(name) && (UInt32(text.dropFirst(2)) ?? 0) > 0
            }
    }
}

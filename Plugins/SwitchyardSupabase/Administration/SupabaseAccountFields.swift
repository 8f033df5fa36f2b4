import Foundation
import Switchyard
import SwitchyardBytes

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

    /// - Parameter present: The current account, needed for new claims.
    init(_ edit: AccountEdit, of present: JSON?) throws(AuthError) {
        try set(email: edit.email, phone: edit.phoneNumber, edit.password)
        if edit.isEmailVerified == true { json["email_confirm"] = true }
        try set(edit.displayName, edit.photoURL)
        if let isDisabled = edit.isDisabled { set(isDisabled: isDisabled) }
        guard let claims = edit.claims else { return }
        // Claims are merged with the existing ones; null removes one.
        var object = try ManagedAccount.supabase(claims: claims)
        for old in present?["app_metadata"]?.object ?? [:]
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
                    .invalidArgument, "This is not a telephone number with a country code, such as +15550100.")
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
        guard isEmail(email) else { throw AuthError(.invalidArgument, "This is not an e-mail address.") }
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

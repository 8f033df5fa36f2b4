import SwitchyardBytes

/// A row of `auth.users`, with the rows that belong to it.
struct LocalSupabaseAccount: Sendable {
    let row: JSONObject
    var identities: [JSONObject] = []
    var factors: [JSONObject] = []

    var id: String { row["id"]?.string ?? "" }
    var email: String? { text("email") }
    var phone: String? { text("phone") }
    var newEmail: String? { text("email_change") }
    var newPhone: String? { text("phone_change") }
    var isAnonymous: Bool { row["is_anonymous"]?.bool ?? false }
    var isEmailConfirmed: Bool { has("email_confirmed_at") }
    var isPhoneConfirmed: Bool { has("phone_confirmed_at") }
    var hasPassword: Bool { text("encrypted_password") != nil }
    var ownData: JSONObject { row["raw_user_meta_data"]?.object ?? [:] }
    var appData: JSONObject { row["raw_app_meta_data"]?.object ?? [:] }
    var verifiedFactors: [JSONObject] { factors.filter { $0["status"]?.string == "verified" } }

    func isBanned(at seconds: Int64) -> Bool { AuthTables.seconds(row["banned_until"]).map { $0 > seconds } ?? false }

    func seconds(of column: String) -> Int64? { AuthTables.seconds(row[column]) }

    private func text(_ column: String) -> String? { row[column]?.string.flatMap { $0.isEmpty ? nil : $0 } }
    private func has(_ column: String) -> Bool { row[column]?.string != nil }

    /// The user as returned by a sign-up whose address counts as confirmed at once: new values have the format in which they
    /// were sent to the database.
    var jsonOfNewcomer: JSONObject {
        var user = json
        user["confirmed_at"] = nil
        user["identities"] = .array(
            (user["identities"]?.array ?? []).map { identity in
                guard var changed = identity.object, var data = changed["identity_data"]?.object else {
                    return identity
                }
                if data["email"] != nil { data["email_verified"] = true }
                changed["identity_data"] = .object(data)
                return .object(changed)
            })
        return user
    }

    /// The user as returned to clients: unset values are left out, except the address and the number, which are empty
    /// strings.
    var json: JSONObject {
        var user: JSONObject = [
            "id": .string(id), "aud": row["aud"] ?? "authenticated", "role": row["role"] ?? "authenticated",
            "email": .string(email ?? ""), "phone": .string(phone ?? ""),
        ]
        for name in [
            "email_confirmed_at", "phone_confirmed_at", "confirmed_at", "last_sign_in_at", "invited_at",
            "confirmation_sent_at", "recovery_sent_at", "email_change_sent_at", "phone_change_sent_at",
            "reauthentication_sent_at", "banned_until", "deleted_at",
        ] where has(name) { user[name] = row[name] }
        user["new_email"] = newEmail.map { .string($0) }
        user["new_phone"] = newPhone.map { .string($0) }
        user["app_metadata"] = .object(appData)
        user["user_metadata"] = .object(ownData)
        user["identities"] = .array(identities.map { .object(LocalSupabaseAccount.identity($0)) })
        if !factors.isEmpty { user["factors"] = .array(factors.map { .object(LocalSupabaseAccount.factor($0)) }) }
        user["created_at"] = row["created_at"]
        user["updated_at"] = row["updated_at"]
        user["is_anonymous"] = .bool(isAnonymous)
        return user
    }

    private static func identity(_ row: JSONObject) -> JSONObject {
        var identity: JSONObject = [
            "identity_id": row["id"] ?? .null, "id": row["provider_id"] ?? .null, "user_id": row["user_id"] ?? .null,
            "provider": row["provider"] ?? .null, "last_sign_in_at": row["last_sign_in_at"] ?? .null,
            "created_at": row["created_at"] ?? .null, "updated_at": row["updated_at"] ?? .null,
        ]
        if let data = row["identity_data"]?.object, !data.isEmpty { identity["identity_data"] = .object(data) }
        if let email = row["email"]?.string { identity["email"] = .string(email) }
        return identity
    }

    static func factor(_ row: JSONObject) -> JSONObject {
        var factor = JSONObject(
            ["id", "created_at", "updated_at", "status", "factor_type", "last_challenged_at"].map {
                (key: $0, value: row[$0] ?? .null)
            })
        factor["phone"] = ""
        if let name = row["friendly_name"]?.string { factor["friendly_name"] = .string(name) }
        return factor
    }
}

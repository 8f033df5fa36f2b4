import SwitchyardBytes
import SwitchyardServerKit

/// Accounts: finding, creating and changing them.
extension AuthTables {
    func person(_ id: String) async throws(AuthRefusal) -> LocalSupabaseAccount? {
        try await person(where: ["id": .string(id)])
    }

    /// Finds a user for administrators, including deleted ones that remain only because others refer to them.
    func anyAccount(_ id: String) async throws(AuthRefusal) -> LocalSupabaseAccount? {
        guard let row = try await first("users", where: ["id": .string(id)]) else { return nil }
        return try await person(row)
    }

    func person(withEmail email: String) async throws(AuthRefusal) -> LocalSupabaseAccount? {
        try await person(where: ["email": .string(email), "is_sso_user": false])
    }

    func person(withPhone phone: String) async throws(AuthRefusal) -> LocalSupabaseAccount? {
        try await person(where: ["phone": .string(phone)])
    }

    private func person(where values: JSONObject) async throws(AuthRefusal) -> LocalSupabaseAccount? {
        guard let row = try await first("users", where: values), row["deleted_at"]?.string == nil else { return nil }
        return try await person(row)
    }

    func person(_ row: JSONObject) async throws(AuthRefusal) -> LocalSupabaseAccount {
        let own: JSONObject = ["user_id": row["id"] ?? .null]
        return LocalSupabaseAccount(
            row: row, identities: try await all("identities", where: own),
            factors: try await all("mfa_factors", where: own))
    }

    /// Changes columns, and returns the updated person.
    func change(_ person: LocalSupabaseAccount, _ values: JSONObject) async throws(AuthRefusal) -> LocalSupabaseAccount
    {
        var values = values
        values["updated_at"] = time
        try await update("users", person.id, values)
        return try await self.person(person.id) ?? person
    }

    func makePerson(_ values: JSONObject) async throws(AuthRefusal) -> LocalSupabaseAccount {
        var row: JSONObject = [
            "id": .string(RandomID.uuid()), "aud": "authenticated", "role": "authenticated",
            "instance_id": "00000000-0000-0000-0000-000000000000", "raw_app_meta_data": [:], "raw_user_meta_data": [:],
            "is_sso_user": false, "is_anonymous": false, "email_change_confirm_status": 0, "created_at": time,
            "updated_at": time,
        ]
        for member in values { row[member.key] = member.value }
        return try await person(try await insert("users", row))
    }

    // MARK: Identities

    /// Adds or updates an identity, and lists its provider in the person's data.
    func add(
        identity subject: String, of provider: String, _ data: JSONObject, to person: LocalSupabaseAccount,
        isNamed: Bool = true
    ) async throws(AuthRefusal) -> LocalSupabaseAccount {
        var data = data
        data["sub"] = .string(subject)
        let known = try await first(
            "identities", where: ["provider": .string(provider), "provider_id": .string(subject)])
        if let id = known?["id"]?.string {
            try await update(
                "identities", id, ["identity_data": .object(data), "last_sign_in_at": time, "updated_at": time])
        } else {
            try await insert(
                "identities",
                [
                    "id": .string(RandomID.uuid()), "provider_id": .string(subject), "provider": .string(provider),
                    "user_id": .string(person.id), "identity_data": .object(data), "last_sign_in_at": time,
                    "created_at": time, "updated_at": time,
                ])
        }
        guard isNamed else { return try await self.person(person.id) ?? person }
        return try await nameProviders(of: person)
    }

    /// Updates the list of providers in the data for apps.
    func nameProviders(of person: LocalSupabaseAccount) async throws(AuthRefusal) -> LocalSupabaseAccount {
        let identities = try await all("identities", where: ["user_id": .string(person.id)])
        var names: [String] = []
        for name in identities.compactMap({ $0["provider"]?.string }) where !names.contains(name) { names.append(name) }
        var data = person.appData
        data["provider"] = names.first.map { .string($0) }
        data["providers"] = names.isEmpty ? nil : .array(names.map { .string($0) })
        return try await change(person, ["raw_app_meta_data": .object(data)])
    }

    // MARK: Passwords

    func hash(_ password: String) async throws(AuthRefusal) -> JSON {
        let hash = try await run(
            "select extensions.crypt($1, extensions.gen_salt('bf', 6))", [password])
        return hash.text.map { .string($0) } ?? .null
    }

    func matches(_ password: String, of person: LocalSupabaseAccount) async throws(AuthRefusal) -> Bool {
        guard person.hasPassword, !password.isEmpty else { return false }
        // The database's function knows bcrypt hashes under only one of their prefixes, and fails for other kinds.
        return try await run(
            """
            select 1 from auth.users u, regexp_replace(u.encrypted_password, '^\\$2[by]\\$', '$2a$') hash
            where u.id = $2::uuid and case when hash like '$2a$%' then hash = extensions.crypt($1, hash) end
            """, [password, person.id]
        ).text != nil
    }
}

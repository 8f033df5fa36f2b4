import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// What the project's own server does with accounts, with the service key.
extension LocalSupabaseAuth {
    func listPeople(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let size = min(max(call.request.query("per_page").flatMap { Int($0) } ?? 50, 1), 1000)
        let page = max(call.request.query("page").flatMap { Int($0) } ?? 1, 1)
        let rows = try await call.tables.all("users", page: (limit: size, offset: (page - 1) * size))
        var people: [JSON] = []
        for row in rows where row["deleted_at"]?.string == nil {
            people.append(.object(try await call.tables.person(row).json))
        }
        let count = try await call.tables.run("select count(*) from auth.users where deleted_at is null").text ?? "0"
        var answer = Self.ok(["users": .array(people), "aud": "authenticated"])
        answer.headers["X-Total-Count"] = count
        return answer
    }

    func createPerson(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let (email, phone) = (try call.email(), try call.phone())
        guard email != nil || phone != nil else {
            throw .invalid("Cannot create a user without either an email or phone")
        }
        if let email, try await call.tables.person(withEmail: email) != nil { throw .emailTaken() }
        if let phone, try await call.tables.person(withPhone: phone) != nil {
            throw AuthRefusal(422, "phone_exists", "Phone number already registered by another user")
        }
        let person = try await newPerson(email: email, phone: phone, call.text("password"), call)
        return Self.ok(try await apply(call, to: person).json)
    }

    func person(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        Self.ok(try await named(call).json)
    }

    func updatePerson(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        var person = try await named(call)
        let tables = call.tables
        if let email = try call.email(), email != person.email {
            person = try await changeEmail(of: person, to: email, call)
        }
        if let phone = try call.phone(), phone != person.phone {
            person = try await changePhone(of: person, to: phone, call)
        }
        if let password = call.text("password") {
            try check(password)
            person = try await tables.change(person, ["encrypted_password": try await tables.hash(password)])
        }
        return Self.ok(try await apply(call, to: person).json)
    }

    func deletePerson(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let person = try await named(call)
        if call.fields["should_soft_delete"]?.bool == true {
            // The row stays for those that point at it; nobody can be found or signed in by it.
            try await call.tables.endSessions(of: person.id)
            try await call.tables.delete("identities", where: ["user_id": .string(person.id)])
            _ = try await call.tables.change(
                person,
                [
                    "deleted_at": call.tables.time, "email": .null, "phone": .null, "encrypted_password": .null,
                    "raw_user_meta_data": [:], "raw_app_meta_data": [:],
                ])
        } else {
            try await call.tables.delete("users", where: ["id": .string(person.id)])
        }
        return Self.ok([:])
    }

    /// Makes an account without a password and mails its owner.
    func invite(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        guard let email = try call.email() else { throw .invalid("An email address is required") }
        if let known = try await call.tables.person(withEmail: email), known.isEmailConfirmed {
            throw .emailTaken()
        }
        var person = try await call.tables.person(withEmail: email)
        if person == nil { person = try await newPerson(email: email, phone: nil, nil, call) }
        guard let person else { throw .emailTaken() }
        try await send(.invitation, .confirmation, to: person, at: email, nil, call)
        return Self.ok(try await call.tables.person(person.id)?.json ?? person.json)
    }

    private func named(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> AuthPerson {
        let id = call.request.parameters["id"] ?? ""
        guard Self.isUUID(id) else { throw AuthRefusal(404, "validation_failed", "user_id must be an UUID") }
        guard let person = try await call.tables.person(id) else {
            throw AuthRefusal(404, "user_not_found", "User not found")
        }
        return person
    }

    /// What only the project's server may set.
    private func apply(_ call: SupabaseAuthCall, to person: AuthPerson) async throws(AuthRefusal) -> AuthPerson {
        let tables = call.tables
        var person = person
        if call.fields["email_confirm"]?.bool == true { person = try await confirmEmail(of: person, call) }
        var changes: JSONObject = [:]
        if call.fields["phone_confirm"]?.bool == true { changes["phone_confirmed_at"] = tables.time }
        for (field, column) in [("app_metadata", "raw_app_meta_data"), ("user_metadata", "raw_user_meta_data")] {
            guard let data = call.fields[field]?.object else { continue }
            var own = person.row[column]?.object ?? [:]
            for member in data { own[member.key] = member.value.isNull ? nil : member.value }
            changes[column] = .object(own)
        }
        if let role = call.text("role") { changes["role"] = .string(role) }
        if let ban = call.text("ban_duration") { changes["banned_until"] = try Self.end(ofBan: ban, call) }
        return changes.isEmpty ? person : try await tables.change(person, changes)
    }

    /// "none", or hours, minutes and seconds such as "24h" and "1h30m".
    private static func end(ofBan text: String, _ call: SupabaseAuthCall) throws(AuthRefusal) -> JSON {
        if text == "none" { return .null }
        var (seconds, digits): (Int64, String) = (0, "")
        for letter in text {
            if letter.isASCII, letter.isNumber {
                digits.append(letter)
                continue
            }
            guard let count = Int64(digits), count < 1 << 30,
                let unit = (["h": 3600, "m": 60, "s": 1] as [Character: Int64])[letter]
            else { throw .invalid("invalid format for ban duration") }
            seconds += count * unit
            digits = ""
        }
        guard digits.isEmpty, seconds > 0 else { throw .invalid("invalid format for ban duration") }
        return .string(
            RFC3339.format(RFC3339.Moment(seconds: call.seconds + seconds, nanoseconds: 0)))
    }
}

import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// What the project's own server does with accounts, with the service key.
extension LocalSupabaseAuth {
    func listPeople(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let size = min(max(try Self.number("per_page", in: call) ?? 50, 1), 1000)
        let page = max(try Self.number("page", in: call) ?? 1, 1)
        let rows = try await call.tables.all(
            "users", page: (limit: size, offset: (page - 1) * size), isNewestFirst: true)
        let people = rows.map { row in
            // Lists do not look for what belongs to each of them.
            var person = AuthPerson(row: row).json
            person["identities"] = .null
            return JSON.object(person)
        }
        let count = try await call.tables.run("select count(*) from auth.users").text.flatMap { Int($0) } ?? 0
        var answer = Self.ok(["users": .array(people), "aud": "authenticated"])
        answer.headers["X-Total-Count"] = String(count)
        let last = max((count + size - 1) / size, 1)
        var links = ["</admin/users?page=\(last)&per_page=\(size)>; rel=\"last\""]
        if page < last { links.insert("</admin/users?page=\(page + 1)&per_page=\(size)>; rel=\"next\"", at: 0) }
        answer.headers["Link"] = links.joined(separator: ", ")
        return answer
    }

    private static func number(_ name: String, in call: SupabaseAuthCall) throws(AuthRefusal) -> Int? {
        guard let text = call.request.query(name), !text.isEmpty else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw .invalid("Bad Pagination Parameters: strconv.ParseUint: parsing \"\(text)\": invalid syntax")
        }
        return number
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
        var more: JSONObject = [:]
        if let id = call.text("id") {
            guard Self.isUUID(id) else { throw .invalid("ID must conform to the uuid v4 format") }
            guard try await call.tables.anybody(id) == nil else { throw .emailTaken("user_already_exists") }
            more["id"] = .string(id)
        }
        if let hash = call.text("password_hash") {
            guard call.text("password") == nil else {
                throw .invalid("Only a password or a password hash should be provided")
            }
            guard ["$2a$", "$2b$", "$2y$"].contains(where: hash.hasPrefix) else {
                throw .invalid("This local server takes password hashes of bcrypt only")
            }
            more["encrypted_password"] = .string(hash)
        }
        let person = try await newPerson(
            email: email, phone: phone, call.text("password"), data: [:], signsUp: false, adding: more, call)
        var created = try await apply(call, to: person).json
        created["confirmed_at"] = nil
        return Self.ok(created)
    }

    func person(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        Self.ok(try await named(call).json)
    }

    func updatePerson(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        var person = try await named(call)
        let tables = call.tables
        if let email = try call.email(), email != person.email {
            if let other = try await tables.person(withEmail: email), other.id != person.id { throw .emailTaken() }
            // The identity keeps the address that it had.
            person = try await tables.change(person, ["email": .string(email), "email_confirmed_at": tables.time])
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
            try await forget(person, call)
        } else {
            try await call.tables.delete("users", where: ["id": .string(person.id)])
        }
        return Self.ok([:])
    }

    /// Keeps the rows for those that point at them, with nothing in them by which somebody could be found or signed in.
    private func forget(_ person: AuthPerson, _ call: SupabaseAuthCall) async throws(AuthRefusal) {
        func hidden(_ text: String?, _ name: String) -> JSON {
            .string(Base64.encode(SHA256.digest(of: Array("\(person.id)\(name)\(text ?? "")".utf8)), alphabet: .url))
        }
        func number(_ text: String?, _ name: String) -> JSON {
            .string(String((hidden(text, name).string ?? "").prefix(15)))
        }
        let tables = call.tables
        try await tables.endSessions(of: person.id)
        try await tables.forgetCodes(of: person)
        for identity in person.identities {
            try await tables.update(
                "identities", identity["id"]?.string ?? "",
                ["provider_id": hidden(identity["provider_id"]?.string, "identity"), "identity_data": [:]])
        }
        _ = try await tables.change(
            person,
            [
                "deleted_at": tables.time, "email": hidden(person.email, "email"),
                "phone": number(person.phone, "phone"),
                "email_change": hidden(person.newEmail, "new"), "phone_change": number(person.newPhone, "new phone"),
                "encrypted_password": .null, "raw_user_meta_data": [:], "raw_app_meta_data": [:],
            ])
    }

    /// Makes an account without a password and mails its owner.
    func invite(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        guard let email = try call.email() else { throw .invalid("An email address is required") }
        if let known = try await call.tables.person(withEmail: email), known.isEmailConfirmed {
            throw .emailTaken()
        }
        var person = try await call.tables.person(withEmail: email)
        if person == nil {
            person = try await newPerson(
                email: email, phone: nil, nil, data: call.object("data"), signsUp: false, call)
        }
        guard let person else { throw .emailTaken() }
        try await send(.invitation, .confirmation, to: person, at: email, nil, call)
        try await call.tables.update("users", person.id, ["confirmation_sent_at": call.tables.time])
        return Self.ok(try await call.tables.person(person.id)?.json ?? person.json)
    }

    func named(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> AuthPerson {
        let id = call.request.parameters["id"] ?? ""
        guard Self.isUUID(id) else { throw AuthRefusal(404, "validation_failed", "user_id must be an UUID") }
        guard let person = try await call.tables.anybody(id) else {
            throw AuthRefusal(404, "user_not_found", "User not found")
        }
        return person
    }

    /// What only the project's server may set.
    private func apply(_ call: SupabaseAuthCall, to person: AuthPerson) async throws(AuthRefusal) -> AuthPerson {
        let tables = call.tables
        var person = person
        if call.fields["email_confirm"]?.bool == true {
            person = try await confirmEmail(of: person, isShown: false, call)
        }
        var changes: JSONObject = [:]
        if call.fields["phone_confirm"]?.bool == true { changes["phone_confirmed_at"] = tables.time }
        for (field, column) in [("app_metadata", "raw_app_meta_data"), ("user_metadata", "raw_user_meta_data")] {
            guard let data = call.fields[field]?.object else { continue }
            var own = person.row[column]?.object ?? [:]
            if column == "raw_user_meta_data" { own = person.ownData }
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

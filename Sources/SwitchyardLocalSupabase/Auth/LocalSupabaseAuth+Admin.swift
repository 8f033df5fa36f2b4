import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Account management for the project's own server, with the service key.
extension LocalSupabaseAuth {
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
            guard id.contains(where: { $0 != "0" && $0 != "-" }) else { throw .invalid("ID cannot be a nil uuid") }
            // The database refuses a taken ID.
            more["id"] = .string(id.lowercased())
        }
        if let hash = call.text("password_hash") {
            guard call.text("password") == nil else {
                throw .invalid("Only a password or a password hash should be provided")
            }
            // Of the kinds that the vendor supports, this local server can verify only bcrypt.
            guard ["$2a$", "$2b$", "$2y$", "$argon2i$", "$argon2id$", "$fbscrypt$"].contains(where: hash.hasPrefix)
            else {
                throw AuthRefusal(500, "unexpected_failure", "Error creating user")
            }
            more["encrypted_password"] = .string(hash)
        }
        // Unlike at a sign-up, the password's strength is not checked.
        var person = try await newPerson(
            email: email, phone: phone, call.text("password"), data: [:], signsUp: false, adding: more, call)
        if email != nil, let phone {
            person = try await call.tables.oneMomentLater.add(
                identity: person.id, of: "phone", Self.data(phone: phone, isConfirmed: false), to: person)
        }
        try await note(.signedUp, person, byAdmin: true, call)
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
        let (email, phone) = (try call.email(), try call.phone())
        if let password = call.fields["password"]?.string { try check(password) }
        let known = person.identities
        // The database refuses a taken address or number.
        if let email {
            let isConfirmed = call.fields["email_confirm"]?.bool == true
            person = try await lay(
                ["email": .string(email), "email_verified": .bool(isConfirmed)], over: "email", of: person, call)
            var changes: JSONObject = ["email": .string(email)]
            if isConfirmed { changes["is_anonymous"] = false }
            person = try await tables.change(person, changes)
        }
        if let phone {
            let isConfirmed = call.fields["phone_confirm"]?.bool == true
            person = try await lay(Self.data(phone: phone, isConfirmed: isConfirmed), over: "phone", of: person, call)
            var changes: JSONObject = ["phone": .string(phone)]
            if isConfirmed { changes["is_anonymous"] = false }
            person = try await tables.change(person, changes)
        }
        if let password = call.text("password") {
            person = try await tables.change(person, ["encrypted_password": try await tables.hash(password)])
            try await tables.endSessions(of: person.id)
            try await tables.forgetCodes(of: person)
        }
        person = try await apply(call, to: person)
        try await note(.modified, person, byAdmin: true, call)
        // The answer has the identities from before the call, and those that it has created.
        let (old, now) = (Set(known.map { $0["id"] }), person.identities)
        person.identities = known + now.filter { !old.contains($0["id"]) }
        return Self.ok(person.json)
    }

    private static func data(phone: String, isConfirmed: Bool) -> JSONObject {
        ["phone": .string(phone), "email_verified": false, "phone_verified": .bool(isConfirmed)]
    }

    /// Updates the identity of an address or a number. A new one is not listed at once: as with the vendor, the data for apps
    /// includes it only after the next sign-in that checks.
    private func lay(
        _ data: JSONObject, over provider: String, of person: LocalSupabaseAccount, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) -> LocalSupabaseAccount {
        guard let identity = person.identities.first(where: { $0["provider"]?.string == provider }) else {
            return try await call.tables.add(identity: person.id, of: provider, data, to: person, isNamed: false)
        }
        var own = identity["identity_data"]?.object ?? [:]
        for member in data { own[member.key] = member.value }
        try await call.tables.update("identities", identity["id"]?.string ?? "", ["identity_data": .object(own)])
        return person
    }

    func deletePerson(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let person = try await named(call)
        try await note(.deleted, person, byAdmin: true, call)
        if call.fields["should_soft_delete"]?.bool == true {
            try await forget(person, call)
        } else {
            try await call.tables.delete("users", where: ["id": .string(person.id)])
        }
        return Self.ok([:])
    }

    /// Keeps the rows that others refer to, without any data by which a user could be found or sign in.
    private func forget(_ person: LocalSupabaseAccount, _ call: SupabaseAuthCall) async throws(AuthRefusal) {
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

    /// Creates an account without a password and sends its owner an email.
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
        try await note(.invited, person, byAdmin: true, call)
        try await send(.invitation, .confirmation, to: person, at: email, nil, call)
        try await call.tables.update("users", person.id, ["confirmation_sent_at": call.tables.time])
        return Self.ok(try await call.tables.person(person.id)?.json ?? person.json)
    }

    func named(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> LocalSupabaseAccount {
        let id = call.request.parameters["id"] ?? ""
        guard Self.isUUID(id) else { throw AuthRefusal(404, "validation_failed", "user_id must be an UUID") }
        guard let person = try await call.tables.anyAccount(id) else {
            throw AuthRefusal(404, "user_not_found", "User not found")
        }
        return person
    }

    /// Applies properties that only the project's server may set.
    private func apply(_ call: SupabaseAuthCall, to person: LocalSupabaseAccount) async throws(AuthRefusal)
        -> LocalSupabaseAccount
    {
        let tables = call.tables
        var person = person
        var changes: JSONObject = [:]
        if call.fields["email_confirm"]?.bool == true {
            person = try await confirmEmail(of: person, isShown: false, call)
            try await tables.delete("one_time_tokens", where: ["user_id": .string(person.id)])
        }
        if call.fields["phone_confirm"]?.bool == true {
            changes["phone_confirmed_at"] = tables.time
            try await tables.delete("one_time_tokens", where: ["user_id": .string(person.id)])
        }
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

/// Lists of accounts, for the project's own server.
extension LocalSupabaseAuth {
    /// `GET /admin/users`: numbered pages of any size, the newest first unless `sort` says otherwise. A `filter` is a part of
    /// an address, or of a full name in upper or lower case; as with the vendor, it is a pattern.
    func listPeople(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let isAscending = try Self.isAscending(call)
        let wanted = try Self.number("per_page", in: call) ?? 50
        // The vendor's library treats zero as twenty.
        let size = min(wanted == 0 ? 20 : wanted, 1 << 20)
        let page = min(max(try Self.number("page", in: call) ?? 1, 1), 1 << 30)
        let filter = call.request.query("filter") ?? ""
        let condition = "where ($1 = '' or email like $2 or raw_user_meta_data ->> 'full_name' ilike $2)"
        let patterns = [filter, "%\(filter)%"]
        let order = isAscending ? "asc" : "desc"
        let rows = try await call.tables.run(
            """
            select to_jsonb(t) from auth.users t \(condition) order by created_at \(order), id \(order)
            limit \(size) offset \((page - 1) * size)
            """, patterns
        ).rows.compactMap { $0.first.flatMap { $0 } }.compactMap { (try? JSON(parsing: $0))?.object }
        let people = rows.map { row in
            // Lists do not load the rows that belong to each account.
            var person = LocalSupabaseAccount(row: row).json
            person["identities"] = .null
            return JSON.object(person)
        }
        let count =
            try await call.tables.run("select count(*) from auth.users \(condition)", patterns).text.flatMap { Int($0) }
            ?? 0
        var answer = Self.ok(["users": .array(people), "aud": "authenticated"])
        answer.headers["X-Total-Count"] = String(count)
        let last = max((count + size - 1) / size, 1)
        var links = ["</admin/users?page=\(last)&per_page=\(size)>; rel=\"last\""]
        if page < last { links.insert("</admin/users?page=\(page + 1)&per_page=\(size)>; rel=\"next\"", at: 0) }
        answer.headers["Link"] = links.joined(separator: ", ")
        return answer
    }

    /// "created_at asc" or "created_at desc"; other sort orders do not exist.
    private static func isAscending(_ call: SupabaseAuthCall) throws(AuthRefusal) -> Bool {
        guard let text = call.request.query("sort") else { return false }
        let parts = text.split(separator: " ", maxSplits: 1)
        guard let field = parts.first, field == "created_at" else {
            throw .invalid("Bad Sort Parameters: bad field for sort '\(parts.first ?? "")'")
        }
        guard parts.count == 2 else { return false }
        switch parts[1].lowercased() {
        case "asc": return true
        case "desc": return false
        default:
            throw .invalid(
                "Bad Sort Parameters: bad direction for sort '\(parts[1])', only 'asc' and 'desc' allowed")
        }
    }

    static func number(_ name: String, in call: SupabaseAuthCall) throws(AuthRefusal) -> Int? {
        guard let text = call.request.query(name), !text.isEmpty else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw .invalid("Bad Pagination Parameters: strconv.ParseUint: parsing \"\(text)\": invalid syntax")
        }
        return number
    }
}

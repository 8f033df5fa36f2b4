import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Calls of users on their own account.
extension LocalSupabaseAuth {
    func user(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        Self.ok(try await caller(call).person.json)
    }

    func update(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let caller = try await caller(call)
        let tables = call.tables
        var person = caller.person
        if call.fields["app_metadata"] != nil {
            throw AuthRefusal(403, "not_admin", "Updating app_metadata requires admin privileges")
        }
        let (email, phone, password) = (try call.email(), try call.phone(), call.fields["password"]?.string)
        if phone != nil { try call.checkChannel() }
        if email != nil || password != nil || phone != nil, !person.verifiedFactors.isEmpty, !caller.isVerifiedTwice {
            throw .insufficientLevel
        }
        if person.isAnonymous, password != nil, email == nil, phone == nil {
            throw AuthRefusal(
                422, "validation_failed",
                "Updating password of an anonymous user without an email or phone is not allowed")
        }
        if let password { person = try await change(password: password, of: person, caller, call) }
        if let data = call.fields["data"]?.object {
            var own = person.ownData
            for member in data { own[member.key] = member.value.isNull ? nil : member.value }
            person = try await tables.change(person, ["raw_user_meta_data": .object(own)])
        }
        if let email, email != person.email {
            if let other = try await tables.person(withEmail: email), other.id != person.id { throw .emailTaken() }
            // A user without an address has none to lose; every other change waits for its email.
            if options.autoconfirmsEmails, person.isAnonymous {
                person = try await changeEmail(of: person, to: email, isFirst: true, call)
            } else {
                person = try await tables.change(
                    person, ["email_change": .string(email), "email_change_confirm_status": 0])
                try await sendEmailChange(to: email, of: person, try call.challenge { call.text($0) }, call)
            }
        }
        if let phone, phone != person.phone {
            if let other = try await tables.person(withPhone: phone), other.id != person.id {
                throw AuthRefusal(422, "phone_exists", "A user with this phone number has already been registered")
            }
            if options.autoconfirmsPhones {
                person = try await changePhone(of: person, to: phone, call)
            } else {
                person = try await tables.change(person, ["phone_change": .string(phone)])
                try await send(.phoneChange, .phoneChange, to: person, at: phone, nil, call)
            }
        }
        try await note(.modified, person, call)
        var answer = try await tables.person(person.id)?.json ?? person.json
        // An address that is confirmed at once has just been written, and is returned as it was sent to the database.
        if caller.person.isAnonymous, !caller.person.isEmailConfirmed { answer["confirmed_at"] = nil }
        return Self.ok(answer)
    }

    private func change(
        password: String, of person: LocalSupabaseAccount, _ caller: Caller, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) -> LocalSupabaseAccount {
        let tables = call.tables
        try await reauthenticate(person, caller, call)
        try check(password)
        if try await tables.matches(password, of: person) {
            throw AuthRefusal(422, "same_password", "New password should be different from the old password.")
        }
        let changed = try await tables.change(person, ["encrypted_password": try await tables.hash(password)])
        try await tables.forgetCodes(of: person)
        try await tables.endSessions(of: person.id, except: caller.sessionID)
        return changed
    }

    /// Checks the code of an older session, if the project demands one. Otherwise a code is of no interest.
    private func reauthenticate(
        _ person: LocalSupabaseAccount, _ caller: Caller, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) {
        guard options.protectsPasswords, person.hasPassword,
            let began = AuthTables.seconds(caller.session?["created_at"]), began + 86_400 < call.seconds
        else { return }
        guard let nonce = call.text("nonce") else {
            throw AuthRefusal(400, "reauthentication_needed", "Password update requires reauthentication")
        }
        let recipient = person.email ?? person.phone ?? ""
        let redeemed = try await call.tables.redeem(
            hashes: [AuthTables.hash(nonce, recipient)], kinds: [.reauthentication], lifetime: AuthTables.mailLifetime)
        guard redeemed?.person.id == person.id else {
            throw AuthRefusal(422, "reauthentication_not_valid", "Nonce has expired or is invalid")
        }
    }

    /// Sends a code by email that allows changing the password.
    func reauthenticate(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let person = try await caller(call).person
        guard let recipient = person.email ?? person.phone else {
            throw AuthRefusal(
                422, "validation_failed", "Reauthentication requires the user to have an email or a phone number")
        }
        try await send(.reauthentication, .reauthentication, to: person, at: recipient, nil, call)
        return Self.ok([:])
    }

    func logOut(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let caller = try await caller(call)
        try await note(.logout, caller.person, call)
        switch call.request.query("scope") ?? "global" {
        case "global": try await call.tables.endSessions(of: caller.person.id)
        case "others": try await call.tables.endSessions(of: caller.person.id, except: caller.sessionID)
        case "local":
            if let id = caller.sessionID { try await call.tables.delete("sessions", where: ["id": .string(id)]) }
        default: throw .invalid("Unsupported logout scope")
        }
        return ServerResponse(status: 204)
    }
}

import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Links that the project's own server sends itself.
extension LocalSupabaseAuth {
    /// `POST /admin/generate_link`: the link that an email would contain, without sending the email.
    func generateLink(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        guard let email = try call.email() else { throw .invalid("An email address is required") }
        let tables = call.tables
        let known = try await tables.person(withEmail: email)
        var type = call.text("type") ?? ""
        var password = call.text("password")
        if type == "magiclink", known == nil {
            // An unknown user signs up with it, with an unknown password.
            type = "signup"
            password = RandomID.make(length: 64)
        }
        switch type {
        case "magiclink", "recovery":
            guard let known else { throw AuthRefusal(404, "user_not_found", "User with this email not found") }
            let occasion: Occasion = type == "recovery" ? .recovery : .magicLink
            return try await answer(type, occasion, .recovery, known, at: email, sent: "recovery_sent_at", call)
        case "invite":
            if known?.isEmailConfirmed == true { throw .emailTaken() }
            let person = try await invited(known, email, call)
            try await tables.update("users", person.id, ["confirmation_sent_at": tables.time])
            return try await answer(type, .invitation, .confirmation, person, at: email, sent: "invited_at", call)
        case "signup":
            if known?.isEmailConfirmed == true { throw .emailTaken() }
            let person: LocalSupabaseAccount
            if let known {
                var own = known.ownData
                for member in call.object("data") { own[member.key] = member.value.isNull ? nil : member.value }
                person = try await tables.change(known, ["raw_user_meta_data": .object(own)])
            } else {
                guard let password else { throw .invalid("Signup requires a valid password") }
                try check(password)
                person = try await newPerson(
                    email: email, phone: nil, password, data: call.object("data"), signsUp: false, call)
            }
            return try await answer(type, .signUp, .confirmation, person, at: email, sent: "confirmation_sent_at", call)
        case "email_change_current", "email_change_new":
            guard let known else { throw AuthRefusal(404, "user_not_found", "User with this email not found") }
            guard let new = try call.email("new_email") else { throw .invalid("A new email address is required") }
            if try await tables.person(withEmail: new) != nil { throw .emailTaken() }
            let person = try await tables.change(known, ["email_change": .string(new)])
            let isNew = type == "email_change_new"
            return try await answer(
                type, .emailChange, isNew ? .newEmail : .currentEmail, person, at: isNew ? new : email,
                sent: "email_change_sent_at", call)
        default: throw .invalid("Invalid email action link type requested: \(type)")
        }
    }

    private func invited(
        _ known: LocalSupabaseAccount?, _ email: String, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) -> LocalSupabaseAccount {
        if let known { return known }
        return try await newPerson(email: email, phone: nil, nil, data: call.object("data"), signsUp: false, call)
    }

    private func answer(
        _ type: String, _ occasion: Occasion, _ kind: AuthTables.CodeKind, _ person: LocalSupabaseAccount,
        at place: String,
        sent column: String, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) -> ServerResponse {
        let code = try await call.tables.makeCode(kind, for: person, at: place)
        let changed = try await call.tables.change(person, [column: call.tables.time])
        var answer = changed.json
        answer["action_link"] = .string(link(occasion, code, call))
        answer["email_otp"] = .string(code.digits)
        answer["hashed_token"] = .string(code.hash)
        answer["verification_type"] = .string(type)
        answer["redirect_to"] = .string(call.redirect ?? options.site)
        return Self.ok(answer)
    }
}

import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Creating accounts.
extension LocalSupabaseAuth {
    func signUp(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        guard options.allowsSignUp else {
            throw AuthRefusal(422, "signup_disabled", "Signups not allowed for this instance")
        }
        let challenge = try call.challenge { call.text($0) }
        let (email, phone) = (try call.email(), try call.phone())
        guard email != nil || phone != nil else { return try await signUpAnonymously(call) }
        guard email == nil || phone == nil else {
            throw .invalid("Only an email address or phone number should be provided on signup.")
        }
        if phone != nil {
            try requirePhones("Phone signups are disabled")
            try call.checkChannel()
        }
        guard phone == nil || challenge == nil else { throw .invalid("PKCE not supported for phone signups") }
        guard let password = call.text("password") else { throw .invalid("Signup requires a valid password") }
        try check(password)
        if let email { return try await signUp(email: email, password, challenge, call) }
        return try await signUp(phone: phone ?? "", password, call)
    }

    private func signUpAnonymously(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        guard options.allowsAnonymous else {
            throw AuthRefusal(422, "anonymous_provider_disabled", "Anonymous sign-ins are disabled")
        }
        let person = try await call.tables.makePerson([
            "is_anonymous": true, "raw_user_meta_data": .object(call.object("data")),
        ])
        return Self.ok(try await signIn(person, by: "anonymous", call))
    }

    private func signUp(
        email: String, _ password: String, _ challenge: AuthChallenge?, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) -> ServerResponse {
        let tables = call.tables
        if let known = try await tables.person(withEmail: email) {
            if options.autoconfirmsEmails { throw AuthRefusal(422, "user_already_exists", "User already registered") }
            guard known.isEmailConfirmed else {
                // The first password stays, because the owner of the mailbox may not have chosen the second.
                try await send(.signUp, .confirmation, to: known, at: email, challenge, call)
                return Self.ok(try await tables.person(known.id)?.json ?? known.json)
            }
            try await note(.repeatedSignUp, known, call)
            return Self.ok(LocalSupabaseAuth.fabricated(email, call))
        }
        var person = try await newPerson(
            email: email, phone: nil, password, data: call.object("data"), signsUp: true, call)
        if options.autoconfirmsEmails {
            person = try await confirmEmail(of: person, isShown: false, call)
            try await note(.signedUp, person, call)
            return Self.ok(try await signIn(person, by: "password", isNew: true, call))
        }
        try await note(.confirmationRequested, person, call)
        try await send(.signUp, .confirmation, to: person, at: email, challenge, call)
        return Self.ok(try await tables.person(person.id)?.json ?? person.json)
    }

    private func signUp(
        phone: String, _ password: String, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) -> ServerResponse {
        let tables = call.tables
        var person: LocalSupabaseAccount
        if let known = try await tables.person(withPhone: phone) {
            if options.autoconfirmsPhones { throw AuthRefusal(422, "user_already_exists", "User already registered") }
            if known.isPhoneConfirmed { return Self.ok(LocalSupabaseAuth.fabricated(nil, phone: phone, call)) }
            person = known
        } else {
            person = try await newPerson(
                email: nil, phone: phone, password, data: call.object("data"), signsUp: true, call)
        }
        if options.autoconfirmsPhones {
            person = try await tables.change(person, ["phone_confirmed_at": tables.time])
            try await note(.signedUp, person, call)
            return Self.ok(try await signIn(person, by: "password", call))
        }
        try await note(.confirmationRequested, person, call)
        try await send(.message, .confirmation, to: person, at: phone, nil, call)
        return Self.ok(try await tables.person(person.id)?.json ?? person.json)
    }

    /// Creates an account with an unconfirmed address or number.
    ///
    /// - Parameters:
    ///   - data: The user's own data.
    ///   - signsUp: Whether the user signs up, so that the identity gets the same data; for accounts made by an
    ///     administrator, the administrator decides.
    ///   - more: Further columns.
    func newPerson(
        email: String?, phone: String?, _ password: String?, data own: JSONObject, signsUp: Bool,
        adding more: JSONObject = [:], _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) -> LocalSupabaseAccount {
        let tables = call.tables
        var row = more
        row["id"] = more["id"] ?? .string(RandomID.uuid())
        row["email"] = email.map { .string($0) }
        row["phone"] = phone.map { .string($0) }
        if let password { row["encrypted_password"] = try await tables.hash(password) }
        var data: JSONObject = signsUp ? own : [:]
        data["email"] = email.map { .string($0) }
        if !signsUp { data["phone"] = phone.map { .string($0) } }
        data["email_verified"] = false
        data["phone_verified"] = false
        data["sub"] = row["id"]
        row["raw_user_meta_data"] = .object(signsUp ? data : own)
        let person = try await tables.makePerson(row)
        return try await tables.add(identity: person.id, of: email == nil ? "phone" : "email", data, to: person)
    }

    /// Marks the address of a person as confirmed.
    ///
    /// - Parameter isShown: Whether ownership was proved; then the identity says so.
    func confirmEmail(
        of person: LocalSupabaseAccount, isShown: Bool = true, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) -> LocalSupabaseAccount {
        let tables = call.tables
        if isShown, !person.isEmailConfirmed {
            for identity in person.identities where identity["provider"]?.string == "email" {
                var data = identity["identity_data"]?.object ?? [:]
                data["email_verified"] = true
                try await tables.update("identities", identity["id"]?.string ?? "", ["identity_data": .object(data)])
            }
        }
        guard !person.isEmailConfirmed else { return person }
        var own = person.ownData
        own["email_verified"] = true
        return try await tables.change(
            person, ["email_confirmed_at": tables.time, "raw_user_meta_data": .object(own)])
    }

    /// A made-up answer for an existing account, so as not to reveal that it exists.
    private static func fabricated(_ email: String?, phone: String? = nil, _ call: SupabaseAuthCall) -> JSONObject {
        var row: JSONObject = [
            "id": .string(RandomID.uuid()), "raw_app_meta_data": ["provider": "email", "providers": ["email"]],
            "raw_user_meta_data": .object(call.object("data")), "confirmation_sent_at": call.tables.time,
            "created_at": call.tables.time, "updated_at": call.tables.time, "role": "",
        ]
        row["email"] = email.map { .string($0) }
        row["phone"] = phone.map { .string($0) }
        return LocalSupabaseAccount(row: row).json
    }

    func requirePhones(_ refusal: String, status: Int = 400) throws(AuthRefusal) {
        guard options.allowsPhones else { throw AuthRefusal(status, "phone_provider_disabled", refusal) }
    }

    /// Checks that the service accepts this password.
    func check(_ password: String) throws(AuthRefusal) {
        guard password.utf8.count <= 72 else { throw .invalid("Password cannot be longer than 72 characters") }
        guard password.count >= options.minimumPasswordLength else {
            var refusal = AuthRefusal(
                422, "weak_password", "Password should be at least \(options.minimumPasswordLength) characters.")
            refusal.more = ["weak_password": ["reasons": ["length"]]]
            throw refusal
        }
    }
}

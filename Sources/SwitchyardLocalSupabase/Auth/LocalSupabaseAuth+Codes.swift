import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Sending codes and links.
extension LocalSupabaseAuth {
    /// The reason for an email or message; the names are those in links.
    enum Occasion: String, Sendable {
        case signUp = "signup"
        case magicLink = "magiclink"
        case recovery
        case invitation = "invite"
        case emailChange = "email_change"
        case reauthentication
        case message = "sms"
        case phoneChange = "phone_change"
    }

    /// Writes an email or a message with a new code.
    @discardableResult
    func send(
        _ occasion: Occasion, _ kind: AuthTables.CodeKind, to person: LocalSupabaseAccount, at recipient: String,
        _ challenge: AuthChallenge? = nil, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) -> String {
        try challenge?.checkMethod()
        let column = Self.sentColumn(occasion)
        if let last = person.seconds(of: column), options.secondsBetweenMails > 0 {
            let wait = last + options.secondsBetweenMails - call.seconds
            let isMessage = occasion == .message || occasion == .phoneChange
            guard wait <= 0 else {
                throw AuthRefusal(
                    429, isMessage ? "over_sms_send_rate_limit" : "over_email_send_rate_limit",
                    "For security purposes, you can only request this after \(wait) seconds.")
            }
        }
        let code = try await call.tables.makeCode(
            kind, for: person, at: recipient, challenge, digits: options.phoneCodes[recipient])
        try await call.tables.update("users", person.id, [column: call.tables.time])
        let id = options.phoneCodes[recipient] == nil ? RandomID.uuid() : "test-otp"
        switch occasion {
        case .message, .phoneChange:
            outbox.add([
                "to": .string(recipient), "occasion": .string(occasion.rawValue), "code": .string(code.digits),
                "message_id": .string(id), "text": .string("Your code is \(code.digits)"),
            ])
        default:
            outbox.add(
                AuthMail(occasion: occasion, receiver: recipient, code: code, link: link(occasion, code, call)).json)
        }
        return id
    }

    func link(_ occasion: Occasion, _ code: AuthTables.Code, _ call: SupabaseAuthCall) -> String {
        let redirect = PercentCoding.encode(call.redirect ?? options.site, as: .queryItem)
        return "\(address)/verify?token=\(code.hash)&type=\(occasion.rawValue)&redirect_to=\(redirect)"
    }

    private static func sentColumn(_ occasion: Occasion) -> String {
        switch occasion {
        case .signUp, .message: "confirmation_sent_at"
        case .magicLink, .recovery: "recovery_sent_at"
        case .invitation: "invited_at"
        case .emailChange: "email_change_sent_at"
        case .phoneChange: "phone_change_sent_at"
        case .reauthentication: "reauthentication_sent_at"
        }
    }

    // MARK: Requesting codes

    /// `POST /magiclink`: the older form of `/otp`, for addresses only.
    func sendMagicLink(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        guard call.text("email") != nil else {
            throw AuthRefusal(422, "validation_failed", "Password recovery requires an email")
        }
        return try await sendSignInCode(call)
    }

    /// `POST /otp`: a code that signs in, and creates the account if there is none.
    func sendSignInCode(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        guard call.text("email") == nil || call.text("phone") == nil else {
            throw .invalid("Only an email address or phone number should be provided")
        }
        let challenge = try call.challenge { call.text($0) }
        let makesAccount = call.fields["create_user"]?.bool ?? true
        if let email = try call.email() {
            var known = try await call.tables.person(withEmail: email)
            if known == nil {
                try requireNewcomers(makesAccount)
                known = try await newPerson(
                    email: email, phone: nil, nil, data: call.object("data"), signsUp: true, call)
                if options.autoconfirmsEmails, let person = known {
                    known = try await confirmEmail(of: person, isShown: false, call)
                }
            }
            guard let person = known else { throw .wrongCode }
            let isNew = !person.isEmailConfirmed
            try await send(
                isNew ? .signUp : .magicLink, isNew ? .confirmation : .recovery, to: person, at: email, challenge, call)
            return Self.ok([:])
        }
        guard let phone = try call.phone() else {
            throw .invalid("One of email or phone must be set")
        }
        try requirePhones("Unsupported phone provider")
        try call.checkChannel()
        if let known = try await call.tables.person(withPhone: phone), known.isPhoneConfirmed {
            let id = try await send(.message, .confirmation, to: known, at: phone, nil, call)
            return Self.ok(["message_id": .string(id)])
        }
        var person = try await call.tables.person(withPhone: phone)
        if person == nil {
            try requireNewcomers(makesAccount)
            person = try await newPerson(
                email: nil, phone: phone, nil, data: call.object("data"), signsUp: true, call)
        }
        if let person { try await send(.message, .confirmation, to: person, at: phone, nil, call) }
        return Self.ok([:])
    }

    private func requireNewcomers(_ makesAccount: Bool) throws(AuthRefusal) {
        guard makesAccount, options.allowsSignUp else {
            throw AuthRefusal(422, "otp_disabled", "Signups not allowed for otp")
        }
    }

    /// Does not reveal whether the address has an account.
    func recover(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        guard let email = try call.email() else { throw .invalid("Password recovery requires an email") }
        let challenge = try call.challenge { call.text($0) }
        if let person = try await call.tables.person(withEmail: email) {
            try await note(.recoveryRequested, person, call)
            try await send(.recovery, .recovery, to: person, at: email, challenge, call)
        }
        return Self.ok([:])
    }

    func resend(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let (email, phone) = (try call.email(), try call.phone())
        switch call.text("type") {
        case "signup":
            if let email, let person = try await call.tables.person(withEmail: email), !person.isEmailConfirmed {
                try await send(.signUp, .confirmation, to: person, at: email, nil, call)
            }
        case "sms":
            if let phone, let person = try await call.tables.person(withPhone: phone), !person.isPhoneConfirmed {
                let id = try await send(.message, .confirmation, to: person, at: phone, nil, call)
                return Self.ok(["message_id": .string(id)])
            }
        case "email_change":
            if let email, let person = try await call.tables.person(withEmail: email), let new = person.newEmail {
                try await sendEmailChange(to: new, of: person, nil, call)
            }
        case "phone_change":
            if let phone, let person = try await call.tables.person(withPhone: phone), let new = person.newPhone {
                let id = try await send(.phoneChange, .phoneChange, to: person, at: new, nil, call)
                return Self.ok(["message_id": .string(id)])
            }
        default: throw .invalid("Missing one of these types: signup, email_change, sms, phone_change")
        }
        return Self.ok([:])
    }

    /// Sends emails to the new address, and to the old one if both have to confirm.
    func sendEmailChange(
        to email: String, of person: LocalSupabaseAccount, _ challenge: AuthChallenge?, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) {
        try await send(.emailChange, .newEmail, to: person, at: email, challenge, call)
        if options.confirmsEmailChangeTwice, let old = person.email {
            let code = try await call.tables.makeCode(.currentEmail, for: person, at: old)
            outbox.add(
                AuthMail(occasion: .emailChange, receiver: old, code: code, link: link(.emailChange, code, call)).json)
        }
    }
}

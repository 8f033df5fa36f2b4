import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Redeeming codes.
extension LocalSupabaseAuth {
    /// The outcome of a code.
    private enum Outcome {
        case session(LocalSupabaseAccount, method: String)
        /// One of two confirmations that are needed.
        case half
    }

    /// `POST /verify`: takes the digits with their recipient, or only the hash.
    func verify(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        guard let type = call.text("type") else { throw .invalid("Verify requires a verification type") }
        let (email, phone) = (try call.email(), try call.phone())
        let (digits, hash) = (call.text("token"), call.text("token_hash"))
        let recipients = [email, phone].compactMap { $0 }
        guard
            (hash != nil && digits == nil && recipients.isEmpty)
                || (hash == nil && digits != nil && recipients.count == 1)
        else { throw .invalid("Only the token_hash and type should be provided, or the token with an email or phone") }
        let code =
            hash.map { [$0] }
            ?? recipients.flatMap { recipient in
                ["", "pkce_"].map { $0 + AuthTables.hash(digits ?? "", recipient) }
            }
        var redeemed: AuthTables.Redeemed
        do throws(AuthRefusal) {
            redeemed = try await redeem(code, type: type, isMessage: phone != nil, call)
        } catch {
            if let phone, let known = try await redeemTestCode(digits, at: phone, type: type, call) {
                redeemed = known
            } else {
                throw hash != nil && error.code == AuthRefusal.wrongCode.code ? .wrongLink : error
            }
        }
        switch try await carryOut(redeemed, type: type, call) {
        case .session(let person, let method): return Self.ok(try await signIn(person, by: method, call))
        case .half: return Self.ok(Self.halfWay)
        }
    }

    private static let halfWay: JSONObject = [
        "msg": "Confirmation link accepted. Please proceed to confirm link sent to the other email", "code": "200",
    ]

    /// The code of a number for tests is always valid, whether it was asked for or not.
    private func redeemTestCode(
        _ digits: String?, at phone: String, type: String, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) -> AuthTables.Redeemed? {
        guard let digits, options.phoneCodes[phone] == digits else { return nil }
        let isChange = type == "phone_change"
        guard isChange || type == "sms",
            let row = try await call.tables.first(
                "users", where: [isChange ? "phone_change" : "phone": .string(phone)])
        else { return nil }
        return AuthTables.Redeemed(
            kind: isChange ? .phoneChange : .confirmation, person: try await call.tables.person(row), recipient: phone,
            challenge: nil)
    }

    private func redeem(
        _ hashes: [String], type: String, isMessage: Bool, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) -> AuthTables.Redeemed {
        let kinds: [AuthTables.CodeKind]
        switch type {
        case "email": kinds = [.confirmation, .recovery]
        case "signup", "invite", "sms": kinds = [.confirmation]
        case "magiclink", "recovery": kinds = [.recovery]
        case "email_change": kinds = [.newEmail, .currentEmail]
        case "phone_change": kinds = [.phoneChange]
        default: throw .wrongCode
        }
        let lifetime = isMessage ? AuthTables.messageLifetime : AuthTables.mailLifetime
        guard let redeemed = try await call.tables.redeem(hashes: hashes, kinds: kinds, lifetime: lifetime) else {
            throw .wrongCode
        }
        return redeemed
    }

    private func carryOut(
        _ redeemed: AuthTables.Redeemed, type: String, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) -> Outcome {
        let (tables, person) = (call.tables, redeemed.person)
        switch redeemed.kind {
        case .confirmation where redeemed.recipient == person.phone:
            return .session(try await tables.change(person, ["phone_confirmed_at": tables.time]), method: "otp")
        case .confirmation, .recovery:
            if type == "invite" { try await tables.update("users", person.id, ["confirmation_sent_at": .null]) }
            return .session(try await confirmEmail(of: person, call), method: type == "recovery" ? "recovery" : "otp")
        case .newEmail, .currentEmail:
            guard let new = person.newEmail else { throw .wrongCode }
            let waiting = try await tables.all("one_time_tokens", where: ["user_id": .string(person.id)]).contains {
                [AuthTables.CodeKind.newEmail.rawValue, AuthTables.CodeKind.currentEmail.rawValue].contains(
                    $0["token_type"]?.string)
            }
            // If addresses count as confirmed anyway, one of the two mailboxes is enough.
            if waiting, !options.autoconfirmsEmails {
                _ = try await tables.change(person, ["email_change_confirm_status": 1])
                return .half
            }
            for kind in [AuthTables.CodeKind.newEmail, .currentEmail] {
                try await tables.delete(
                    "one_time_tokens",
                    where: ["user_id": .string(person.id), "token_type": .string(kind.rawValue)])
            }
            return .session(try await changeEmail(of: person, to: new, call), method: "otp")
        case .phoneChange:
            guard let new = person.newPhone else { throw .wrongCode }
            return .session(try await changePhone(of: person, to: new, call), method: "otp")
        case .reauthentication: throw .wrongCode
        }
    }

    /// Makes the address the user's own.
    func changeEmail(
        of person: LocalSupabaseAccount, to email: String, isFirst: Bool = false, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) -> LocalSupabaseAccount {
        let tables = call.tables
        if let other = try await tables.person(withEmail: email), other.id != person.id { throw .emailTaken() }
        var changes: JSONObject = [
            "email": .string(email), "email_change": .null, "email_change_confirm_status": 0, "is_anonymous": false,
        ]
        if !person.isEmailConfirmed {
            var own = person.ownData
            own["email_verified"] = true
            changes["raw_user_meta_data"] = .object(own)
            changes["email_confirmed_at"] = tables.time
        }
        let changed = try await tables.change(person, changes)
        let data: JSONObject = ["email": .string(email), "email_verified": true, "phone_verified": false]
        // As with the vendor, the first address of a user is not listed as a provider in the data for apps.
        return try await tables.add(identity: person.id, of: "email", data, to: changed, isNamed: !isFirst)
    }

    func changePhone(
        of person: LocalSupabaseAccount, to phone: String, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) -> LocalSupabaseAccount {
        let changed = try await call.tables.change(
            person,
            [
                "phone": .string(phone), "phone_change": .null,
                "phone_confirmed_at": call.tables.time, "is_anonymous": false,
            ])
        return try await call.tables.add(
            identity: person.id, of: "phone",
            ["email_verified": false, "phone": .string(phone), "phone_verified": true],
            to: changed)
    }

    // MARK: Links

    /// `GET /verify`: the link in an email. It redirects to the app, with the session, a code for it, or an error.
    func follow(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let target = call.request.query("redirect_to") ?? options.site
        let (hash, type) = (call.request.query("token") ?? "", call.request.query("type") ?? "")
        guard !type.isEmpty else { throw .invalid("Verify requires a verification type") }
        guard !hash.isEmpty else { throw .invalid("Verify requires a token or a token hash") }
        do throws(AuthRefusal) {
            let redeemed = try await redeem([hash], type: type, isMessage: false, call)
            switch try await carryOut(redeemed, type: type, call) {
            case .half:
                return Self.redirect(
                    to: target, fragment: [("message", Self.halfWay["msg"]?.string ?? ""), ("sb", "")])
            case .session(let person, let method):
                if let challenge = redeemed.challenge {
                    let code = try await makeFlow(challenge, for: person, by: method, call)
                    return Self.redirect(to: target, query: [("code", code)])
                }
                let session = try await signIn(person, by: method, call)
                return Self.redirect(to: target, fragment: Self.items(of: session) + [("type", type)])
            }
        } catch {
            let refusal = error.code == AuthRefusal.wrongCode.code ? AuthRefusal.wrongLink : error
            return Self.redirect(to: target, failure: refusal, isForBrowser: hash.hasPrefix("pkce_"))
        }
    }

    static func items(of session: JSONObject) -> [(String, String)] {
        ["access_token", "expires_at", "expires_in", "refresh_token", "sb", "token_type"].map { name in
            (name, session[name]?.string ?? session[name]?.int64.map { String($0) } ?? "")
        }
    }

    static func redirect(to target: String, failure: AuthRefusal, isForBrowser: Bool) -> ServerResponse {
        let items = [
            ("error", failure.status >= 500 ? "server_error" : "access_denied"), ("error_code", failure.code),
            ("error_description", failure.message), ("sb", ""),
        ]
        return redirect(to: target, query: isForBrowser ? items : [], fragment: items)
    }

    static func redirect(
        to target: String, query: [(String, String)] = [], fragment: [(String, String)] = []
    ) -> ServerResponse {
        // A line break in the address would end the header field.
        guard target.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            return AuthRefusal.invalid("redirect_to is not a URL").response(for: nil)
        }
        func text(_ items: [(String, String)]) -> String {
            FormCoding.encode(items.map { (name: $0.0, value: $0.1) }, space: .plus)
        }
        var address = String(target.prefix { $0 != "#" })
        if !query.isEmpty { address += (address.contains("?") ? "&" : "?") + text(query) }
        if !fragment.isEmpty { address += "#" + text(fragment) }
        let marked = address.map { $0 == "&" ? "&amp;" : $0 == "\"" ? "&#34;" : $0 == "<" ? "&lt;" : String($0) }
            .joined()
        var response = ServerResponse.text(
            "<a href=\"\(marked)\">See Other</a>.\n\n", status: 303, type: "text/html; charset=utf-8")
        response.headers["Location"] = address
        return response
    }
}

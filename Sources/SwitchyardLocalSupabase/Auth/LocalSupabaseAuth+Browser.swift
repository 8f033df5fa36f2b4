import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Signing in through a browser. This server provides the page of the identity provider; its query says who signs in: `sub=…`
/// and, optionally, `email=…` and `name=…`.
///
/// Unlike at the vendor's, `redirect_to` is not checked against a list, so tests can return to any URL.
extension LocalSupabaseAuth {
    func authorize(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        try page(call, for: nil)
    }

    /// The same for a signed-in user who adds an identity.
    func authorizeLink(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        try requireManualLinking()
        let person = try await caller(call).person
        let answer = try page(call, for: person)
        guard call.request.query("skip_http_redirect") == "true" else { return answer }
        return Self.ok(["url": .string(answer.headers["Location"] ?? "")])
    }

    private func page(_ call: SupabaseAuthCall, for person: LocalSupabaseAccount?) throws(AuthRefusal) -> ServerResponse
    {
        let request = call.request
        guard let provider = request.query("provider"), !provider.isEmpty else {
            throw .invalid("Unsupported provider: Provider could not be found")
        }
        guard Self.known.contains(provider) || provider.hasPrefix("custom:") else {
            throw .invalid("Unsupported provider: Provider \(provider) could not be found")
        }
        guard options.providers.contains(provider) || provider.hasPrefix("custom:") else {
            throw .invalid("Unsupported provider: provider is not enabled")
        }
        var state: JSONObject = [
            "provider": .string(provider), "redirect": .string(request.query("redirect_to") ?? options.site),
            "until": .integer(call.seconds + 600),
        ]
        if let challenge = try call.challenge({ request.query($0) }) {
            try challenge.checkMethod()
            state["challenge"] = .string(challenge.text)
            state["method"] = .string(challenge.method)
        }
        state["person"] = (person?.id).map { .string($0) }
        var items = [("state", seal.close(.object(state), as: .browserSession))]
        // Tests need no intermediate page.
        for name in ["sub", "email", "name", "error"] { request.query(name).map { items.append((name, $0)) } }
        var answer = Self.redirect(to: context.url + "/_supabase/identity", query: items)
        answer.status = 302
        return answer
    }

    /// The identity providers that the vendor supports.
    static let known = [
        "apple", "azure", "bitbucket", "discord", "facebook", "snapchat", "figma", "fly", "github", "gitlab", "google",
        "keycloak", "kakao", "linkedin", "linkedin_oidc", "notion", "spotify", "slack", "slack_oidc", "workos",
        "twitch",
        "twitter", "zoom",
    ]

    /// The page of the identity provider.
    func identify(_ request: ServerRequest) -> ServerResponse {
        guard let state = request.query("state"), seal.open(state, as: .browserSession) != nil else {
            return .text("This page was not reached by a sign-in.\n", status: 400)
        }
        let back = address + "/callback"
        if let error = request.query("error") {
            return Self.redirect(to: back, query: [("state", state), ("error", error)])
        }
        guard let subject = request.query("sub"), !subject.isEmpty else {
            return .text("Add sub=… to the URL to say who signs in, and if you like email=… and name=….\n")
        }
        var claims: JSONObject = ["sub": .string(subject), "email_verified": true]
        for name in ["email", "name", "picture"] { claims[name] = request.query(name).map { .string($0) } }
        let code = seal.close(["state": .string(state), "claims": .object(claims)], as: .browserCode)
        return Self.redirect(to: back, query: [("state", state), ("code", code)])
    }

    /// `GET /callback`: the identity provider sends the browser here, which then continues to the app.
    func callback(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        guard let text = call.request.query("state"), !text.isEmpty else {
            return Self.redirect(
                to: options.site,
                query: [
                    ("error", "invalid_request"), ("error_code", "bad_oauth_callback"),
                    ("error_description", "OAuth state parameter missing"),
                ])
        }
        guard let state = seal.open(text, as: .browserSession), (state["until"]?.int64 ?? 0) > call.seconds else {
            throw AuthRefusal(400, "bad_oauth_state", "OAuth state is missing or invalid")
        }
        let target = state["redirect"]?.string ?? options.site
        let challenge = state["challenge"]?.string.map {
            AuthChallenge(text: $0, method: state["method"]?.string ?? "s256")
        }
        do throws(AuthRefusal) {
            guard call.request.query("error") == nil else {
                throw AuthRefusal(400, "bad_oauth_callback", "The user cancelled the sign-in")
            }
            guard let code = seal.open(call.request.query("code") ?? "", as: .browserCode),
                code["state"]?.string == text, let claims = code["claims"]?.object, let subject = claims["sub"]?.string
            else { throw AuthRefusal(400, "bad_oauth_callback", "OAuth callback with invalid code") }
            let assertion = Assertion(
                provider: state["provider"]?.string ?? "", subject: subject, claims: claims,
                accessToken: "local-\(RandomID.make())")
            let person = try await person(of: assertion, linkedTo: state["person"]?.string, call)
            if let challenge {
                let flow = try await makeFlow(
                    challenge, for: person, by: "oauth", providerToken: assertion.accessToken, call)
                return Self.redirect(to: target, query: [("code", flow)])
            }
            let session = try await signIn(person, by: "oauth", call)
            let own = [("provider_token", assertion.accessToken ?? "")]
            return Self.redirect(to: target, fragment: Self.items(of: session) + own)
        } catch {
            return Self.redirect(to: target, failure: error, isForBrowser: challenge != nil)
        }
    }

    private func person(
        of assertion: Assertion, linkedTo id: String?, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) -> LocalSupabaseAccount {
        guard let id else { return try await person(of: assertion, call) }
        guard let person = try await call.tables.person(id) else {
            throw AuthRefusal(403, "user_not_found", "User not found")
        }
        return try await link(assertion, to: person, call)
    }
}

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
        at recipient: String,
        sent column: String, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) -> ServerResponse {
        let code = try await call.tables.makeCode(kind, for: person, at: recipient)
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

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
            return .text("Add sub=… (and email=…, name=…) to the address to say who you are.\n")
        }
        var claims: JSONObject = ["sub": .string(subject), "email_verified": true]
        for name in ["email", "name", "picture"] { claims[name] = request.query(name).map { .string($0) } }
        let code = seal.close(["state": .string(state), "claims": .object(claims)], as: .browserCode)
        return Self.redirect(to: back, query: [("state", state), ("code", code)])
    }

    /// `GET /callback`: the identity provider sends the browser here, which then continues to the app.
    func callback(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let text = call.request.query("state") ?? ""
        guard let state = seal.open(text, as: .browserSession), (state["until"]?.int64 ?? 0) > call.seconds else {
            throw AuthRefusal(400, "bad_oauth_state", "OAuth state is missing or invalid")
        }
        let target = state["redirect"]?.string ?? options.site
        let challenge = state["challenge"]?.string.map {
            AuthChallenge(text: $0, method: state["method"]?.string ?? "s256")
        }
        do throws(AuthRefusal) {
            guard call.request.query("error") == nil else {
                throw AuthRefusal(400, "bad_oauth_callback", "The sign-in was called off")
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

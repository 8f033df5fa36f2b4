import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Starting sessions: `POST /token`.
extension LocalSupabaseAuth {
    func token(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        switch call.request.query("grant_type") {
        case "password":
            var answer = try await grantPassword(call)
            answer["weak_password"] = .null
            return Self.ok(answer)
        case "refresh_token": return Self.ok(try await grantRefresh(call))
        case "pkce": return Self.ok(try await grantCode(call))
        case "id_token": return Self.ok(try await grantIdentity(call))
        case "web3": throw AuthRefusal(422, "web3_provider_disabled", "Web3 provider is disabled")
        default: throw AuthRefusal(400, "invalid_credentials", "unsupported_grant_type")
        }
    }

    private func grantPassword(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> JSONObject {
        let tables = call.tables
        guard call.text("email") != nil || call.text("phone") != nil else {
            throw .invalid("missing email or phone")
        }
        // An invalid address means that there is no account.
        let (email, phone) = (try? call.email(), try? call.phone())
        var found: LocalSupabaseAccount?
        if let email { found = try await tables.person(withEmail: email) }
        if let phone, found == nil { found = try await tables.person(withPhone: phone) }
        guard let person = found, try await tables.matches(call.text("password") ?? "", of: person) else {
            throw .wrongCredentials
        }
        if person.isBanned(at: call.seconds) { throw .banned }
        if email != nil, !person.isEmailConfirmed {
            throw AuthRefusal(400, "email_not_confirmed", "Email not confirmed")
        }
        if email == nil, !person.isPhoneConfirmed {
            throw AuthRefusal(400, "phone_not_confirmed", "Phone not confirmed")
        }
        return try await signIn(person, by: "password", call)
    }

    private func grantRefresh(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> JSONObject {
        guard let token = call.text("refresh_token"), AuthTables.isToken(token) else {
            throw .invalid("Refresh token is not valid")
        }
        let (session, new) = try await call.tables.rotate(
            token, rotates: options.rotatesRefreshTokens, interval: options.reuseInterval)
        guard let person = try await call.tables.person(session["user_id"]?.string ?? "") else {
            throw AuthRefusal(400, "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found")
        }
        if person.isBanned(at: call.seconds) { throw .banned }
        return grant(person, session, new, call)
    }

    // MARK: Browser codes

    /// The lifetime of the code in the browser's return URL.
    private static let flowLifetime: Int64 = 300

    /// Creates the code that the browser returns, which can be redeemed with the verifier.
    func makeFlow(
        _ challenge: AuthChallenge, for person: LocalSupabaseAccount, by method: String, providerToken: String? = nil,
        _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) -> String {
        let code = RandomID.uuid()
        var row: JSONObject = [
            "id": .string(RandomID.uuid()), "user_id": .string(person.id), "auth_code": .string(code),
            "code_challenge": .string(challenge.text), "code_challenge_method": .string(challenge.method),
            "authentication_method": .string(method), "created_at": call.tables.time,
        ]
        row["provider_access_token"] = providerToken.map { .string($0) }
        try await call.tables.insert("flow_state", row)
        return code
    }

    private func grantCode(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> JSONObject {
        guard let code = call.text("auth_code"), let verifier = call.text("code_verifier") else {
            throw .invalid("invalid request: both auth code and code verifier should be non-empty")
        }
        guard let flow = try await call.tables.first("flow_state", where: ["auth_code": .string(code)]),
            let id = flow["user_id"]?.string, let person = try await call.tables.person(id)
        else { throw AuthRefusal(404, "flow_state_not_found", "invalid flow state, no valid flow state found") }
        let made = AuthTables.seconds(flow["created_at"]) ?? 0
        guard made + Self.flowLifetime > call.seconds else {
            throw AuthRefusal(422, "flow_state_expired", "invalid flow state, flow state has expired")
        }
        let challenge = AuthChallenge(
            text: flow["code_challenge"]?.string ?? "", method: flow["code_challenge_method"]?.string ?? "")
        guard AuthChallenge.isWellFormed(verifier), challenge.isMet(by: verifier) else {
            throw AuthRefusal(400, "bad_code_verifier", "code challenge does not match previously saved code verifier")
        }
        try await call.tables.delete("flow_state", where: ["id": flow["id"] ?? .null])
        var answer = try await signIn(person, by: flow["authentication_method"]?.string ?? "oauth", call)
        answer["provider_token"] = flow["provider_access_token"]?.string.map { .string($0) }
        return answer
    }
}

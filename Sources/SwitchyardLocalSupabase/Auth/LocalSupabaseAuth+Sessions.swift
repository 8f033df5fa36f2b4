import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Callers, and the sessions that are issued.
extension LocalSupabaseAuth {
    /// The caller's account and session.
    struct Caller: Sendable {
        let person: LocalSupabaseAccount
        /// `nil` for a token without a session.
        let session: JSONObject?

        var sessionID: String? { session?["id"]?.string }
        var isVerifiedTwice: Bool { session?["aal"]?.string == "aal2" }
    }

    func caller(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> Caller {
        guard let text = SupabaseAccess.bearer(of: call.request) else { throw .noBearer }
        let token: SupabaseToken
        do throws(SupabaseToken.Refusal) { token = try context.access.token(text) } catch {
            throw AuthRefusal(
                403, "bad_jwt", "invalid JWT: unable to parse or verify signature, \(Self.words(for: error, text))")
        }
        guard let id = token.claims["sub"]?.string else {
            throw AuthRefusal(403, "bad_jwt", "invalid claim: missing sub claim")
        }
        guard LocalSupabaseAuth.isUUID(id) else {
            throw AuthRefusal(400, "bad_jwt", "invalid claim: sub claim must be a UUID")
        }
        guard let person = try await call.tables.person(id) else {
            throw AuthRefusal(403, "user_not_found", "User from sub claim in JWT does not exist")
        }
        if person.isBanned(at: call.seconds) { throw AuthRefusal(403, "user_banned", "User is banned") }
        guard let session = token.claims["session_id"]?.string else { return Caller(person: person, session: nil) }
        guard LocalSupabaseAuth.isUUID(session),
            let row = try await call.tables.first(
                "sessions", where: ["id": .string(session), "user_id": .string(person.id)])
        else {
            throw AuthRefusal(403, "session_not_found", "Session from session_id claim in JWT does not exist")
        }
        return Caller(person: person, session: row)
    }

    private static func words(for refusal: SupabaseToken.Refusal, _ text: String) -> String {
        switch refusal {
        case .expired: "token has invalid claims: token is expired"
        case .notYetValid: "token has invalid claims: token is not valid yet"
        case .fromTheFuture: "token has invalid claims: token used before issued"
        case .malformedClaim(let name): "token is malformed: \(name) is invalid"
        case .wrongSignature, .unknownRole: "signature is invalid"
        case .undecodable:
            text.split(separator: ".", omittingEmptySubsequences: false).count == 3
                ? "token is malformed: could not base64 decode header: illegal base64 data at input byte 0"
                : "token is malformed: token contains an invalid number of segments"
        }
    }

    /// Requires the project's service key.
    func requireAdmin(_ request: ServerRequest) throws(AuthRefusal) {
        guard let text = SupabaseAccess.bearer(of: request) else { throw .noBearer }
        guard let token = try? context.access.token(text) else {
            throw AuthRefusal(403, "bad_jwt", "invalid JWT: unable to parse or verify signature")
        }
        guard token.role == "service_role" else { throw .notAdmin }
    }

    static func isUUID(_ text: String) -> Bool {
        let letters = Array(text.utf8)
        return letters.count == 36
            && letters.indices.allSatisfy { index in
                [8, 13, 18, 23].contains(index)
                    ? letters[index] == UInt8(ascii: "-") : Hex.value(of: letters[index]) != nil
            }
    }

    // MARK: Issuing sessions

    /// Starts and returns a session for an authenticated user.
    func signIn(
        _ person: LocalSupabaseAccount, by method: String, isNew: Bool = false, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) -> JSONObject {
        if person.isBanned(at: call.seconds) { throw .banned }
        let tables = call.tables
        let person = try await tables.change(person, ["last_sign_in_at": tables.time])
        let session = try await tables.beginSession(of: person, by: method)
        try await note(.login, person, call)
        var answer = grant(person, session, try await tables.makeToken(of: session), call)
        if isNew { answer["user"] = .object(person.jsonOfNewcomer) }
        return answer
    }

    /// A session as returned to clients.
    func grant(
        _ person: LocalSupabaseAccount, _ session: JSONObject, _ refreshToken: String, _ call: SupabaseAuthCall
    ) -> JSONObject {
        let end = call.seconds + options.tokenLifetime
        return [
            "access_token": .string(accessToken(of: person, session, until: end, call)), "token_type": "bearer",
            "expires_in": .integer(options.tokenLifetime), "expires_at": .integer(end),
            "refresh_token": .string(refreshToken), "user": .object(person.json),
        ]
    }

    private func accessToken(
        of person: LocalSupabaseAccount, _ session: JSONObject, until end: Int64, _ call: SupabaseAuthCall
    ) -> String {
        let claims: JSONObject = [
            "iss": .string(address), "sub": .string(person.id), "aud": person.row["aud"] ?? "authenticated",
            "exp": .integer(end), "iat": .integer(call.seconds), "email": .string(person.email ?? ""),
            "phone": .string(person.phone ?? ""), "app_metadata": .object(person.appData),
            "user_metadata": .object(person.ownData), "role": person.row["role"] ?? "authenticated",
            "aal": session["aal"] ?? "aal1", "amr": session["amr"] ?? [], "session_id": session["id"] ?? .null,
            "is_anonymous": .bool(person.isAnonymous),
        ]
        return context.access.sign(claims)
    }
}

/// Starting sessions: `POST /token`.
extension LocalSupabaseAuth {
    func token(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        switch call.request.query("grant_type") {
        case "password":
            try SupabaseAuthBody.password.check(call.fields)
            var answer = try await grantPassword(call)
            answer["weak_password"] = .null
            return Self.ok(answer)
        case "refresh_token":
            try SupabaseAuthBody.refresh.check(call.fields)
            return Self.ok(try await grantRefresh(call))
        case "pkce":
            try SupabaseAuthBody.code.check(call.fields)
            return Self.ok(try await grantCode(call))
        case "id_token":
            try SupabaseAuthBody.identity.check(call.fields)
            return Self.ok(try await grantIdentity(call))
        case "web3": throw AuthRefusal(422, "web3_provider_disabled", "Web3 provider is disabled")
        default: throw AuthRefusal(400, "invalid_credentials", "unsupported_grant_type")
        }
    }

    private func grantPassword(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> JSONObject {
        let tables = call.tables
        guard call.text("email") != nil || call.text("phone") != nil else {
            throw .invalid("missing email or phone")
        }
        guard call.text("email") == nil || call.text("phone") == nil else {
            throw .invalid("Only an email address or phone number should be provided on login.")
        }
        if call.text("phone") != nil { try requirePhones("Phone logins are disabled", status: 422) }
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
        try await note(.tokenRefreshed, person, call)
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
        try challenge.checkMethod()
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

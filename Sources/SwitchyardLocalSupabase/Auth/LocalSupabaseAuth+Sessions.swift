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
        return SupabaseToken(claims: claims).text(secret: context.access.secret)
    }
}

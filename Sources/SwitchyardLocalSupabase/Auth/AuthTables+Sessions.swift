import SwitchyardBytes

/// Sessions and their refresh tokens, each of which can be used once.
extension AuthTables {
    /// Starts a session.
    ///
    /// - Parameter method: How the person signed in, such as "password".
    func beginSession(of person: LocalSupabaseAccount, by method: String) async throws(AuthRefusal) -> JSONObject {
        try await insert(
            "sessions",
            [
                "id": .string(RandomID.uuid()), "user_id": .string(person.id), "aal": "aal1",
                "amr": [["method": .string(method), "timestamp": .integer(seconds)]], "created_at": time,
                "updated_at": time,
            ])
    }

    /// Creates a new refresh token for a session; it replaces `parent`.
    func makeToken(of session: JSONObject, after parent: String? = nil) async throws(AuthRefusal) -> String {
        let token = AuthTables.randomToken()
        var row: JSONObject = [
            "token": .string(token), "user_id": session["user_id"] ?? .null, "session_id": session["id"] ?? .null,
            "revoked": false, "created_at": time, "updated_at": time,
        ]
        row["parent"] = parent.map { .string($0) }
        try await insert("refresh_tokens", row)
        return token
    }

    /// Exchanges a refresh token for a new one.
    ///
    /// A used token is accepted if its answer was probably lost: if it is the direct predecessor of the current one, or if
    /// the last refresh is at most `interval` ago. Any other used token counts as stolen, and ends the session.
    func rotate(
        _ token: String, rotates: Bool, interval: Int64
    ) async throws(AuthRefusal) -> (session: JSONObject, token: String) {
        guard let row = try await first("refresh_tokens", where: ["token": .string(token)]) else {
            throw AuthRefusal(400, "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found")
        }
        let id = row["session_id"] ?? .null
        guard let session = try await first("sessions", where: ["id": id]) else {
            throw AuthRefusal(400, "session_not_found", "Invalid Refresh Token: Session Not Found")
        }
        if row["revoked"]?.bool == false {
            guard rotates else { return (session, token) }
            _ = try await run(
                "update auth.refresh_tokens set revoked = true, updated_at = $2::timestamptz where token = $1",
                [token, time.string])
            try await update("sessions", id.string ?? "", ["refreshed_at": time, "updated_at": time])
            return (session, try await makeToken(of: session, after: token))
        }
        let active = try await first("refresh_tokens", where: ["session_id": id, "revoked": false])
        let refreshed = AuthTables.seconds(session["refreshed_at"]) ?? .min
        if let text = active?["token"]?.string,
            active?["parent"]?.string == token || seconds <= refreshed + interval
        {
            return (session, text)
        }
        try await delete("sessions", where: ["id": id])
        var refusal = AuthRefusal(400, "refresh_token_already_used", "Invalid Refresh Token: Already Used")
        refusal.keepsChanges = true
        throw refusal
    }

    /// Whether this can be a refresh token at all.
    static func isToken(_ text: String) -> Bool {
        text.utf8.count == 12 && text.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) }
    }

    private static func randomToken() -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        return String((0..<12).map { _ in letters[Int.random(in: 0..<letters.count)] })
    }

    /// Ends the sessions of a person, except one.
    func endSessions(of person: String, except session: String? = nil) async throws(AuthRefusal) {
        _ = try await run(
            "delete from auth.sessions where user_id = $1::uuid and id is distinct from $2::uuid", [person, session])
    }
}

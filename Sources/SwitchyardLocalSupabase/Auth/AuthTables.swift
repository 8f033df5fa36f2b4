import Switchyard
import SwitchyardBytes
import SwitchyardServerKit

/// The tables of the auth service within one transaction. Rows are JSON objects with the columns' names.
///
/// Names of tables and columns come from the service's code, never from a request; values are always parameters.
struct AuthTables: Sendable {
    let connection: PostgresConnection
    let now: Timestamp

    /// Whole seconds, as tokens count.
    var seconds: Int64 { now.seconds }

    /// For the second of two rows made by one call, to keep their order.
    var oneMomentLater: AuthTables {
        AuthTables(connection: connection, now: Timestamp(microseconds: now.microseconds + 1))
    }

    /// The current time in column format.
    var time: JSON { AuthTables.text(now) }

    static func text(_ time: Timestamp) -> JSON {
        .string(RFC3339.format(RFC3339.Moment(seconds: time.seconds, nanoseconds: time.nanoseconds)))
    }

    /// The value of a time column, in seconds.
    static func seconds(_ value: JSON?) -> Int64? { value?.string.flatMap { RFC3339.parse($0) }?.seconds }

    func run(_ sql: String, _ parameters: [String?] = []) async throws(AuthRefusal) -> PostgresResult {
        do throws(PostgresFailure) {
            return try await connection.run([PostgresStatement(sql, parameters)])[0]
        } catch {
            throw AuthRefusal(error)
        }
    }

    /// The rows whose columns have these values.
    func all(
        _ table: String, where values: JSONObject = [:]
    ) async throws(AuthRefusal) -> [JSONObject] {
        let result = try await run(
            """
            select to_jsonb(t) from auth.\(table) t, \(Self.given(table)) where \(Self.same(values))
            order by t.created_at, t.id
            """, [JSON.object(values).text()])
        return result.rows.compactMap { $0.first.flatMap { $0 } }.compactMap { (try? JSON(parsing: $0))?.object }
    }

    func first(_ table: String, where values: JSONObject) async throws(AuthRefusal) -> JSONObject? {
        try await all(table, where: values).first
    }

    @discardableResult
    func insert(_ table: String, _ values: JSONObject) async throws(AuthRefusal) -> JSONObject {
        let columns = values.map { "\"\($0.key)\"" }.joined(separator: ", ")
        let result = try await run(
            """
            insert into auth.\(table) as t (\(columns)) select \(columns) from \(Self.given(table)) returning to_jsonb(t)
            """, [JSON.object(values).text()])
        return result.text.flatMap { try? JSON(parsing: $0) }?.object ?? [:]
    }

    /// Sets columns of the row with this `id`.
    func update(_ table: String, _ id: String, _ values: JSONObject) async throws(AuthRefusal) {
        guard !values.isEmpty else { return }
        let changes = values.map { "\"\($0.key)\" = g.\"\($0.key)\"" }.joined(separator: ", ")
        _ = try await run(
            "update auth.\(table) t set \(changes) from \(Self.given(table)) where t.id::text = $2",
            [JSON.object(values).text(), id])
    }

    func delete(_ table: String, where values: JSONObject) async throws(AuthRefusal) {
        _ = try await run(
            "delete from auth.\(table) t using \(Self.given(table)) where \(Self.same(values))",
            [JSON.object(values).text()])
    }

    /// The values in `$1` as a row `g`, with the types that the table's columns have.
    private static func given(_ table: String) -> String { "jsonb_populate_record(null::auth.\(table), $1::jsonb) g" }

    private static func same(_ values: JSONObject) -> String {
        values.isEmpty ? "true" : values.map { "t.\"\($0.key)\" = g.\"\($0.key)\"" }.joined(separator: " and ")
    }
}

/// Codes that were sent to an address or a number. The tables contain only their hashes.
extension AuthTables {
    /// The purpose of a code; the names are the vendor's.
    enum CodeKind: String, Sendable {
        case confirmation = "confirmation_token"
        case recovery = "recovery_token"
        case newEmail = "email_change_token_new"
        case currentEmail = "email_change_token_current"
        case phoneChange = "phone_change_token"
        case reauthentication = "reauthentication_token"
    }

    /// A code, and its hash for links.
    struct Code: Sendable {
        let digits: String
        let hash: String
    }

    /// The lifetime of codes in emails and text messages.
    static let mailLifetime: Int64 = 3600
    static let messageLifetime: Int64 = 60

    /// Creates a new code, which replaces the last one of its kind.
    ///
    /// - Parameter challenge: If set, the link leads to a code that needs the verifier.
    func makeCode(
        _ kind: CodeKind, for person: LocalSupabaseAccount, at recipient: String, _ challenge: AuthChallenge? = nil,
        digits given: String? = nil
    ) async throws(AuthRefusal) -> Code {
        let number = Int.random(in: 0..<1_000_000)
        let digits = given ?? String(String(number + 1_000_000).dropFirst())
        let hash = (challenge == nil ? "" : "pkce_") + AuthTables.hash(digits, recipient)
        try await delete(
            "one_time_tokens", where: ["user_id": .string(person.id), "token_type": .string(kind.rawValue)])
        var row: JSONObject = [
            "id": .string(RandomID.uuid()), "user_id": .string(person.id), "token_type": .string(kind.rawValue),
            "token_hash": .string(hash), "relates_to": .string(recipient), "created_at": time,
        ]
        row["code_challenge"] = (challenge?.text).map { .string($0) }
        row["code_challenge_method"] = (challenge?.method).map { .string($0) }
        try await insert("one_time_tokens", row)
        return Code(digits: digits, hash: hash)
    }

    static func hash(_ digits: String, _ recipient: String) -> String {
        Hex.encode(SHA256.digest(of: Array("\(recipient) \(digits)".utf8)))
    }

    /// A redeemed code.
    struct Redeemed: Sendable {
        let kind: CodeKind
        let person: LocalSupabaseAccount
        /// The address or number to which it was sent.
        let recipient: String
        let challenge: AuthChallenge?
    }

    /// Finds and removes a code of one of these kinds.
    func redeem(hashes: [String], kinds: [CodeKind], lifetime: Int64) async throws(AuthRefusal) -> Redeemed? {
        for hash in hashes {
            for row in try await all("one_time_tokens", where: ["token_hash": .string(hash)]) {
                guard let kind = row["token_type"]?.string.flatMap(CodeKind.init(rawValue:)), kinds.contains(kind),
                    let made = AuthTables.seconds(row["created_at"]), made + lifetime > seconds,
                    let id = row["user_id"]?.string, let person = try await person(id)
                else { continue }
                try await delete("one_time_tokens", where: ["id": row["id"] ?? .null])
                let challenge = row["code_challenge"]?.string.map {
                    AuthChallenge(text: $0, method: row["code_challenge_method"]?.string ?? "s256")
                }
                return Redeemed(
                    kind: kind, person: person, recipient: row["relates_to"]?.string ?? "", challenge: challenge)
            }
        }
        return nil
    }

    /// Invalidates all codes of a person, as a new password does.
    func forgetCodes(of person: LocalSupabaseAccount) async throws(AuthRefusal) {
        try await delete("one_time_tokens", where: ["user_id": .string(person.id)])
        try await update("users", person.id, ["recovery_sent_at": .null, "reauthentication_sent_at": .null])
    }
}

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

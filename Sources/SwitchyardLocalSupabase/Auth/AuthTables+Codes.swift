import SwitchyardBytes

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
        _ kind: CodeKind, for person: LocalSupabaseAccount, at place: String, _ challenge: AuthChallenge? = nil,
        digits given: String? = nil
    ) async throws(AuthRefusal) -> Code {
        let number = Int.random(in: 0..<1_000_000)
        let digits = given ?? String(String(number + 1_000_000).dropFirst())
        let hash = (challenge == nil ? "" : "pkce_") + AuthTables.hash(digits, place)
        try await delete(
            "one_time_tokens", where: ["user_id": .string(person.id), "token_type": .string(kind.rawValue)])
        var row: JSONObject = [
            "id": .string(RandomID.uuid()), "user_id": .string(person.id), "token_type": .string(kind.rawValue),
            "token_hash": .string(hash), "relates_to": .string(place), "created_at": time,
        ]
        row["code_challenge"] = (challenge?.text).map { .string($0) }
        row["code_challenge_method"] = (challenge?.method).map { .string($0) }
        try await insert("one_time_tokens", row)
        return Code(digits: digits, hash: hash)
    }

    static func hash(_ digits: String, _ place: String) -> String {
        Hex.encode(SHA256.digest(of: Array("\(place) \(digits)".utf8)))
    }

    /// A redeemed code.
    struct Redeemed: Sendable {
        let kind: CodeKind
        let person: LocalSupabaseAccount
        /// The address or number to which it was sent.
        let place: String
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
                    kind: kind, person: person, place: row["relates_to"]?.string ?? "", challenge: challenge)
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

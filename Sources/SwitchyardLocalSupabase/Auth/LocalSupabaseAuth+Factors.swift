import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Second factors: codes of authenticator apps.
extension LocalSupabaseAuth {
    private static let challengeLifetime: Int64 = 300
    private static let factorLimit = 10

    func enrol(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let caller = try await caller(call)
        guard caller.session != nil else { throw AuthRefusal(403, "no_authorization", "A session is needed") }
        switch call.text("factor_type") {
        case "totp": break
        case "phone": throw AuthRefusal(422, "mfa_phone_enroll_not_enabled", "MFA enroll is disabled for Phone")
        case "webauthn":
            throw AuthRefusal(422, "mfa_webauthn_enroll_not_enabled", "MFA enroll is disabled for WebAuthn")
        default: throw .invalid("factor_type needs to be totp, phone, or webauthn")
        }
        guard caller.person.verifiedFactors.isEmpty || caller.isVerifiedTwice else {
            throw AuthRefusal(403, "insufficient_aal", "AAL2 required to enroll a new factor")
        }
        guard caller.person.factors.count < Self.factorLimit else {
            throw AuthRefusal(422, "too_many_enrolled_mfa_factors", "Maximum number of verified factors reached")
        }
        let name = call.text("friendly_name")
        if let name, caller.person.factors.contains(where: { $0["friendly_name"]?.string == name }) {
            throw AuthRefusal(
                422, "mfa_factor_name_conflict",
                "A factor with the friendly name \"\(name)\" for this user already exists")
        }
        let secret = Base32.encode(Array(ServerSigningKey.makeKey().prefix(20)))
        let id = RandomID.uuid()
        var row: JSONObject = [
            "id": .string(id), "user_id": .string(caller.person.id), "factor_type": "totp", "status": "unverified",
            "secret": .string(secret), "created_at": call.tables.time, "updated_at": call.tables.time,
        ]
        row["friendly_name"] = name.map { .string($0) }
        try await call.tables.insert("mfa_factors", row)
        let issuer = PercentCoding.encode(call.text("issuer") ?? "localhost")
        let label = PercentCoding.encode(caller.person.email ?? caller.person.id)
        let uri =
            "otpauth://totp/\(issuer):\(label)?algorithm=SHA1&digits=6&issuer=\(issuer)&period=30&secret=\(secret)"
        return Self.ok([
            "id": .string(id), "type": "totp", "friendly_name": .string(name ?? ""),
            "totp": ["qr_code": .string(Self.picture(of: secret)), "secret": .string(secret), "uri": .string(uri)],
        ])
    }

    func challenge(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let factor = try factor(of: try await caller(call), call)
        let id = RandomID.uuid()
        try await call.tables.update(
            "mfa_factors", factor["id"]?.string ?? "", ["last_challenged_at": call.tables.time])
        try await call.tables.insert(
            "mfa_challenges", ["id": .string(id), "factor_id": factor["id"] ?? .null, "created_at": call.tables.time])
        return Self.ok([
            "id": .string(id), "type": "totp", "expires_at": .integer(call.seconds + Self.challengeLifetime),
        ])
    }

    /// A correct code raises the session to the second level; the first one activates the factor.
    func verifyFactor(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let caller = try await caller(call)
        let tables = call.tables
        let factor = try factor(of: caller, call)
        guard let session = caller.session, let id = factor["id"]?.string else {
            throw AuthRefusal(403, "no_authorization", "A session is needed")
        }
        guard let challenge = call.text("challenge_id"), Self.isUUID(challenge),
            let row = try await tables.first(
                "mfa_challenges", where: ["id": .string(challenge), "factor_id": .string(id)]),
            row["verified_at"]?.string == nil
        else { throw AuthRefusal(422, "mfa_factor_not_found", "MFA factor with the provided challenge ID not found") }
        guard let made = AuthTables.seconds(row["created_at"]), made + Self.challengeLifetime > call.seconds else {
            throw AuthRefusal(
                422, "mfa_challenge_expired", "MFA challenge has expired, verify against another challenge")
        }
        let key = factor["secret"]?.string.flatMap { Base32.decode($0) } ?? []
        guard let code = call.text("code"), let step = OneTimeCode.step(of: code, key: key, at: call.seconds),
            step > factor["last_step"]?.int64 ?? .min
        else { throw AuthRefusal(422, "mfa_verification_failed", "Invalid TOTP code entered") }
        try await tables.update("mfa_challenges", challenge, ["verified_at": tables.time])
        try await tables.update(
            "mfa_factors", id, ["status": "verified", "last_step": .integer(step), "updated_at": tables.time])
        // Sessions with only one factor end.
        _ = try await tables.run(
            "delete from auth.sessions where user_id = $1::uuid and aal = 'aal1' and id <> $2::uuid",
            [caller.person.id, caller.sessionID])
        let methods = (session["amr"]?.array ?? []) + [["method": "totp", "timestamp": .integer(call.seconds)]]
        try await tables.update(
            "sessions", caller.sessionID ?? "", ["aal": "aal2", "amr": .array(methods), "updated_at": tables.time])
        _ = try await tables.run(
            "update auth.refresh_tokens set revoked = true where session_id = $1::uuid", [caller.sessionID])
        guard let raised = try await tables.first("sessions", where: ["id": session["id"] ?? .null]),
            let person = try await tables.person(caller.person.id)
        else { throw .wrongCode }
        return Self.ok(grant(person, raised, try await tables.makeToken(of: raised), call))
    }

    func unenrol(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let caller = try await caller(call)
        let factor = try factor(of: caller, call)
        if factor["status"]?.string == "verified", !caller.isVerifiedTwice {
            throw AuthRefusal(422, "insufficient_aal", "AAL2 required to unenroll verified factor")
        }
        try await call.tables.delete("mfa_factors", where: ["id": factor["id"] ?? .null])
        _ = try await call.tables.run(
            "update auth.sessions set aal = 'aal1' where user_id = $1::uuid", [caller.person.id])
        return Self.ok(["id": factor["id"] ?? .null])
    }

    /// A placeholder for the QR code: tests read the key instead.
    private static func picture(of secret: String) -> String {
        """
        <?xml version="1.0"?>
        <svg xmlns="http://www.w3.org/2000/svg" width="420" height="60"><text x="10" y="35">\(secret)</text></svg>
        """
    }

    // MARK: Administrators

    func listFactors(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let person = try await named(call)
        return .json(JSON.array(person.factors.map { .object(LocalSupabaseAccount.factor($0)) }).bytes())
    }

    func deleteFactor(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let person = try await named(call)
        guard let factor = person.factors.first(where: { $0["id"]?.string == call.request.parameters["factor"] }) else {
            throw AuthRefusal(404, "mfa_factor_not_found", "Factor not found")
        }
        try await call.tables.delete("mfa_factors", where: ["id": factor["id"] ?? .null])
        return Self.ok(LocalSupabaseAccount.factor(factor))
    }

    private func factor(of caller: Caller, _ call: SupabaseAuthCall) throws(AuthRefusal) -> JSONObject {
        guard let factor = caller.person.factors.first(where: { $0["id"]?.string == call.request.parameters["factor"] })
        else { throw AuthRefusal(404, "mfa_factor_not_found", "MFA factor not found") }
        return factor
    }
}

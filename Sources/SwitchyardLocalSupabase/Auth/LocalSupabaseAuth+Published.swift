import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// What the service publishes about itself: its keys, where its calls are, and for administrators what has happened.
extension LocalSupabaseAuth {
    func publish(_ document: JSONObject) -> ServerResponse {
        var response = Self.ok(document)
        response.headers["Cache-Control"] = "public, max-age=600"
        return response
    }

    /// Empty if tokens are signed with the project's secret, which has no public half.
    var publicKeys: JSONObject {
        guard case .object(var key)? = context.access.signingKey?.publicKey.json else { return ["keys": []] }
        key["key_ops"] = ["verify"]
        return ["keys": [.object(key)]]
    }

    /// As with the vendor, it names the calls of the OAuth server although that is not enabled.
    var openIDConfiguration: JSONObject {
        [
            "issuer": .string(address), "authorization_endpoint": .string(address + "/oauth/authorize"),
            "token_endpoint": .string(address + "/oauth/token"),
            "jwks_uri": .string(address + "/.well-known/jwks.json"),
            "userinfo_endpoint": .string(address + "/oauth/userinfo"),
            "scopes_supported": ["openid", "profile", "email", "phone"], "response_types_supported": ["code"],
            "response_modes_supported": ["query"], "grant_types_supported": ["authorization_code", "refresh_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "ES256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
            "claims_supported": [
                "sub", "aud", "iss", "exp", "iat", "auth_time", "nonce", "email", "email_verified", "phone_number",
                "phone_number_verified", "name", "picture", "preferred_username", "updated_at",
            ], "code_challenge_methods_supported": ["S256", "plain"],
        ]
    }

    // MARK: Audit

    /// What is recorded, with the vendor's names for the action and its group.
    enum AuditAction: String, Sendable {
        case login, logout
        case signedUp = "user_signedup"
        case confirmationRequested = "user_confirmation_requested"
        case repeatedSignUp = "user_repeated_signup"
        case recoveryRequested = "user_recovery_requested"
        case modified = "user_modified"
        case invited = "user_invited"
        case deleted = "user_deleted"
        case tokenRefreshed = "token_refreshed"

        var group: String {
            switch self {
            case .login, .logout: "account"
            case .signedUp, .invited, .deleted: "team"
            case .tokenRefreshed: "token"
            default: "user"
            }
        }
    }

    /// Records what a user has done, or what the project's server has done with one.
    func note(
        _ action: AuditAction, _ person: LocalSupabaseAccount, byAdmin: Bool = false, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) {
        var payload: JSONObject = [
            "action": .string(action.rawValue), "log_type": .string(action.group), "actor_via_sso": false,
            "actor_id": .string(byAdmin ? "00000000-0000-0000-0000-000000000000" : person.id),
            "actor_username": .string(byAdmin ? "service_role" : person.email ?? person.phone ?? ""),
        ]
        if byAdmin {
            payload["traits"] = [
                "user_id": .string(person.id), "user_email": .string(person.email ?? ""),
                "user_phone": .string(person.phone ?? ""),
            ]
        }
        try await call.tables.insert(
            "audit_log_entries",
            [
                "id": .string(RandomID.uuid()), "payload": .object(payload), "created_at": call.tables.time,
                "ip_address": "127.0.0.1",
            ])
    }

    /// `GET /admin/audit`: numbered pages, the newest first. A `query` such as `action:login` chooses some.
    func listAudit(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let size = max(min(try Self.number("per_page", in: call) ?? 50, 1 << 20), 1)
        let page = min(max(try Self.number("page", in: call) ?? 1, 1), 1 << 30)
        var condition = "true"
        var wanted = ""
        if let query = call.request.query("query"), !query.isEmpty {
            let parts = query.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let members = ["author": "actor_username", "action": "action", "type": "log_type"]
            guard parts.count == 2, let member = members[String(parts[0])] else {
                throw .invalid("Invalid query scope: \(query)")
            }
            condition = "strpos(payload ->> '\(member)', $1) > 0"
            wanted = String(parts[1])
        }
        let rows = try await call.tables.run(
            """
            select jsonb_build_object('id', id, 'payload', payload, 'created_at', created_at, 'ip_address', ip_address)
            from auth.audit_log_entries where $1 = $1 and \(condition) order by created_at desc, id
            limit \(size) offset \((page - 1) * size)
            """, [wanted]
        ).rows.compactMap { $0.first.flatMap { $0 } }.compactMap { try? JSON(parsing: $0) }
        let count = try await call.tables.run(
            "select count(*) from auth.audit_log_entries where $1 = $1 and \(condition)", [wanted]
        ).text
        var answer = ServerResponse.json(JSON.array(rows).bytes())
        answer.headers["X-Total-Count"] = count ?? "0"
        return answer
    }
}

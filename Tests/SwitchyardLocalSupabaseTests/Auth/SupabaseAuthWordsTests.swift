import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// What the auth service refuses like the vendor's, and what it takes like it.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SupabaseAuthWordsTests {
    @Test func `A member of a body that has another type is refused by its name`() async throws {
        try await SupabaseBed.with { bed in
            for (path, body, words) in [
                ("/signup", ["password": 1], "number into Go struct field SignupParams.password of type string"),
                (
                    "/signup", ["data": [1]],
                    "array into Go struct field SignupParams.data of type map[string]interface {}"
                ),
                ("/otp", ["create_user": "true"], "string into Go struct field OtpParams.create_user of type bool"),
                (
                    "/token?grant_type=password", ["password": [:]],
                    "object into Go struct field PasswordGrantParams.password of type string"
                ), ("/verify", ["token": 1], "number into Go struct field VerifyParams.token of type string"),
            ] as [(String, JSON, String)] {
                let answer = try await bed.auth(.post, path, body)
                #expect((answer.status, answer.code) == (400, "bad_json"))
                #expect(
                    answer.json["message"]?.string
                        == "Could not parse request body as JSON: json: cannot unmarshal " + words)
            }
            let nothing: JSON = ["email": "ann@example.com", "password": "secret", "data": .null]
            #expect(try await bed.auth(.post, "/signup", nothing).status == 200)
        }
    }

    @Test func `Addresses have no umlauts, and messages no other way than SMS`() async throws {
        try await SupabaseBed.with { bed in
            for email in ["ü@example.com", "a@exämple.com"] {
                let body: JSON = ["email": .string(email), "password": "secret"]
                #expect(try await bed.auth(.post, "/signup", body).code == "validation_failed")
            }
            for path in ["/signup", "/otp"] {
                let body: JSON = ["phone": "15551112222", "password": "secret", "channel": "whatsapp"]
                let answer = try await bed.auth(.post, path, body)
                #expect((answer.status, answer.code) == (400, "validation_failed"))
            }
            let both: JSON = ["phone": "15551112222", "email": "ann@example.com"]
            #expect(try await bed.auth(.post, "/otp", both).code == "validation_failed")
            #expect(try await bed.auth(.post, "/token?grant_type=password", both).code == "validation_failed")
            #expect(try await bed.auth(.post, "/magiclink", [:]).status == 422)
        }
    }

    @Test func `A nonce counts only where one is needed, and an empty password is a weak one`() async throws {
        try await SupabaseBed.with({ $0.auth.protectsPasswords = true }) { bed in
            let ann = try await bed.signUp()
            func change(_ password: String, _ nonce: String, _ token: String) async throws -> SupabaseBed.Answer {
                try await bed.auth(
                    .put, "/user", ["password": .string(password), "nonce": .string(nonce)], as: token)
            }
            #expect(try await change("secret-2", "000000", ann.token).status == 200)
            let empty = try await bed.auth(.put, "/user", ["password": ""], as: ann.token)
            #expect((empty.status, empty.code) == (422, "weak_password"))
            bed.advance(86_401)
            let later = try await bed.refresh(ann.refreshToken)
            let wrong = try await change("secret-3", "000000", later.token)
            #expect((wrong.status, wrong.code) == (422, "reauthentication_not_valid"))
            #expect(
                try await bed.auth(.put, "/user", ["password": "secret-3"], as: later.token).code
                    == "reauthentication_needed")
        }
    }

    @Test func `The code of a number for tests is always valid`() async throws {
        try await SupabaseBed.with({ $0.auth.phoneCodes = ["15551112222": "123456"] }) { bed in
            let verify: JSON = ["type": "sms", "phone": "+15551112222", "token": "123456"]
            #expect(try await bed.auth(.post, "/verify", verify).code == "otp_expired", "no account has the number")
            #expect(try await bed.auth(.post, "/otp", ["phone": "15551112222"]).status == 200)
            for _ in 0..<2 { #expect(try await bed.auth(.post, "/verify", verify).status == 200) }
            let known = try await bed.auth(.post, "/otp", ["phone": "15551112222"])
            #expect(known.json["message_id"] == "test-otp")
            let wrong: JSON = ["type": "sms", "phone": "15551112222", "token": "654321"]
            #expect(try await bed.auth(.post, "/verify", wrong).code == "otp_expired")
        }
    }

    @Test func `Without phones their calls are refused`() async throws {
        try await SupabaseBed.with({ $0.auth.allowsPhones = false }) { bed in
            let body: JSON = ["phone": "15551112222", "password": "secret"]
            for (path, status) in [("/signup", 400), ("/otp", 400), ("/token?grant_type=password", 422)] {
                let answer = try await bed.auth(.post, path, body)
                #expect((answer.status, answer.code) == (status, "phone_provider_disabled"))
            }
            #expect(try await bed.auth(.get, "/settings").json["external"]?["phone"] == false)
            #expect(try await bed.signUp().status == 200)
        }
    }

    @Test func `An unknown challenge method fails where a code would be made for it`() async throws {
        let challenge: JSONObject = [
            "password": "secret", "code_challenge": .string(String(repeating: "x", count: 43)),
            "code_challenge_method": "x",
        ]
        func signUp(_ bed: SupabaseBed) async throws -> SupabaseBed.Answer {
            var body = challenge
            body["email"] = "ann@example.com"
            return try await bed.auth(.post, "/signup", .object(body))
        }
        try await SupabaseBed.with { bed in
            let answer = try await signUp(bed)
            #expect(answer.status == 200)
        }
        try await SupabaseBed.with({ $0.auth.autoconfirmsEmails = false }) { bed in
            let answer = try await signUp(bed)
            #expect((answer.status, answer.code) == (500, "unexpected_failure"))
        }
    }

    @Test func `Links that lack a part, and what is not enabled, are refused`() async throws {
        try await SupabaseBed.with({ $0.auth.allowsManualLinking = false }) { bed in
            let ann = try await bed.signUp()
            for path in ["/verify?type=signup", "/verify?token=x"] {
                #expect(try await bed.auth(.get, path).code == "validation_failed")
            }
            let back = try await bed.auth(.get, "/callback?error=x")
            #expect(back.status == 303)
            #expect(back.headers["Location"]?.includes("error_code=bad_oauth_callback") == true)
            for (path, code) in [
                ("/user/identities/authorize?provider=github", "manual_linking_disabled"),
                ("/passkeys", "passkey_disabled"), ("/oauth/authorize", "feature_disabled"),
                ("/.well-known/oauth-authorization-server", "feature_disabled"), ("/sso", "saml_provider_disabled"),
            ] {
                let answer = try await bed.auth(.get, path, as: ann.token)
                #expect((answer.status, answer.code) == (404, code), "\(path)")
            }
            let key = bed.supabase.serviceKey
            let clients = try await bed.auth(.get, "/admin/oauth/clients", as: key)
            #expect((clients.status, clients.code) == (404, "feature_disabled"))
            #expect(try await bed.auth(.get, "/admin/sso/providers", as: key).json == ["items": []])
            #expect(try await bed.auth(.get, "/passkeys", as: bed.supabase.anonKey).code == "bad_jwt")
        }
    }

    @Test func `Administrators see what has happened, the newest first`() async throws {
        try await SupabaseBed.with { bed in
            _ = try await bed.signUp()
            bed.advance(1)
            let key = bed.supabase.serviceKey
            _ = try await bed.auth(.post, "/invite", ["email": "ben@example.com"], as: key)
            let all = try await bed.auth(.get, "/admin/audit", as: key)
            #expect(all.json[0]?["payload"]?["action"] == "user_invited")
            #expect(all.json[0]?["payload"]?["traits"]?["user_email"] == "ben@example.com")
            let logins = try await bed.auth(.get, "/admin/audit?query=action:login", as: key)
            #expect(logins.json.array?.count == 1)
            #expect(logins.json[0]?["payload"]?["actor_username"] == "ann@example.com")
            #expect(try await bed.auth(.get, "/admin/audit?query=x", as: key).code == "validation_failed")
        }
    }

    @Test(.enabled(if: RSAPrivateKey.isAvailable, "libcrypto is not installed"))
    func `With a signing key, users' tokens are verified by the published one`() async throws {
        try await SupabaseBed.with({ $0.auth.signsWithKey = true }) { bed in
            let ann = try await bed.signUp()
            let keys = try await bed.auth(.get, "/.well-known/jwks.json")
            let key = try #require(keys.json["keys"]?[0].flatMap { RSAPublicKey($0) })
            let parts = ann.token.split(separator: ".").map(String.init)
            let signature = try #require(Base64.decode(parts[2], alphabet: .url))
            #expect(key.verifies(signature, of: parts[0] + "." + parts[1]))
            #expect(try await bed.auth(.get, "/user", as: ann.token).status == 200)
            let forged = parts[0] + "." + parts[1] + "." + Base64.encode(signature.reversed(), alphabet: .url)
            #expect(try await bed.auth(.get, "/user", as: forged).code == "bad_jwt")
            let own = bed.supabase.accessToken(for: ann.json["user"]?["id"]?.string ?? "")
            #expect(try await bed.auth(.get, "/user", as: own).status == 200, "the secret still signs")
            let document = try await bed.auth(.get, "/.well-known/openid-configuration")
            #expect(document.json["jwks_uri"]?.string?.hasSuffix("/auth/v1/.well-known/jwks.json") == true)
        }
    }

    @Test func `A project's migrations and seeds run, and the people of a seed sign in`() async throws {
        try await SupabaseBed.with { bed in
            try await bed.run(
                "set local search_path = public, extensions",
                #"create extension if not exists "uuid-ossp" with schema extensions"#,
                "create table public.notes (id uuid primary key default uuid_generate_v4(), owner uuid references auth.users)",
                "grant all on public.notes to supabase_auth_admin",
                """
                insert into auth.users (instance_id, id, aud, role, email, encrypted_password, email_confirmed_at,
                  recovery_sent_at, last_sign_in_at, raw_app_meta_data, raw_user_meta_data, created_at, updated_at,
                  confirmation_token, email_change, email_change_token_new, recovery_token)
                values ('00000000-0000-0000-0000-000000000000', uuid_generate_v4(), 'authenticated', 'authenticated',
                  'seed@example.com', crypt('password123', gen_salt('bf')), now(), now(), now(),
                  '{"provider":"email","providers":["email"]}', '{}', now(), now(), '', '', '', '')
                """,
                """
                insert into auth.identities (id, user_id, provider_id, identity_data, provider, created_at, updated_at)
                select uuid_generate_v4(), id, id, format('{"sub":"%s","email":"%s"}', id, email)::jsonb, 'email', now(), now()
                from auth.users
                """)
            let password: JSON = ["email": "seed@example.com", "password": "password123"]
            #expect(try await bed.auth(.post, "/token?grant_type=password", password).status == 200)
            let path =
                "select array_to_string(setconfig, ' ') from pg_db_role_setting s join pg_database d on d.oid = setdatabase"
            #expect(
                try await bed.value(path + " where datname = current_database() and setrole = 0")?.includes(
                    "extensions")
                    == true)
        }
    }
}

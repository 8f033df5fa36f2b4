import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// The auth service, call by call.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct LocalSupabaseAuthTests {
    @Test func `An address that is to be confirmed signs no one in before it is`() async throws {
        try await SupabaseBed.with({ $0.auth.autoconfirmsEmails = false }) { bed in
            let made = try await bed.signUp()
            #expect(made.status == 200)
            #expect(made.json["access_token"] == nil)
            #expect(made.json["confirmation_sent_at"] != nil)
            #expect(made.json["email_confirmed_at"] == nil)
            let password: JSON = ["email": "ann@example.com", "password": "secret"]
            let early = try await bed.auth(.post, "/token?grant_type=password", password)
            #expect((early.status, early.code) == (400, "email_not_confirmed"))

            let code = try #require(try await bed.mail(to: "ann@example.com")["code"]?.string)
            let wrong = String(code.map { $0 == "1" ? "2" : "1" })
            func verify(_ code: String) async throws -> SupabaseBed.Answer {
                try await bed.auth(
                    .post, "/verify", ["type": "signup", "email": "ann@example.com", "token": .string(code)])
            }
            let refused = try await verify(wrong)
            #expect((refused.status, refused.code) == (403, "otp_expired"))
            let confirmed = try await verify(code)
            #expect(confirmed.status == 200)
            #expect(confirmed.json["user"]?["email_confirmed_at"] != nil)
            #expect(try await verify(code).code == "otp_expired")
            #expect(try await bed.auth(.post, "/token?grant_type=password", password).status == 200)
        }
    }

    @Test func `Who signs up with a confirmed address gets a made-up account, and nothing is made`() async throws {
        try await SupabaseBed.with({ $0.auth.autoconfirmsEmails = false }) { bed in
            let first = try await bed.signUp()
            let again = try await bed.signUp()
            #expect(again.json["id"] == first.json["id"])
            try await bed.run("update auth.users set email_confirmed_at = now()")
            let late = try await bed.signUp()
            #expect(late.status == 200)
            #expect(late.json["id"] != first.json["id"])
            #expect(late.json["identities"] == [])
            #expect(try await bed.value("select count(*) from auth.users") == "1")
        }
    }

    @Test(arguments: [true, false])
    func `An address that is taken while a call runs is answered like any known one`(_ autoconfirms: Bool) async throws
    {
        try await SupabaseBed.with({ $0.auth.autoconfirmsEmails = autoconfirms }) { bed in
            let pool = bed.supabase.database.own
            let other = try await pool.take()
            _ = try await other.run(
                script: "begin; insert into auth.users (email, email_confirmed_at) values ('ann@example.com', now())")
            let call = Task { try await bed.signUp() }
            try await eventually("the call waits for the other one") {
                let waiting = "datname = current_database() and wait_event_type = 'Lock'"
                return try await bed.value("select count(*) from pg_stat_activity where \(waiting)") != "0"
            }
            _ = try await other.run(script: "commit")
            await pool.giveBack(other)
            let answer = try await call.value
            if autoconfirms {
                #expect((answer.status, answer.code) == (422, "user_already_exists"))
            } else {
                #expect(answer.status == 200)
                #expect(answer.json["identities"] == [])
            }
            #expect(try await bed.value("select count(*) from auth.users") == "1")
        }
    }

    @Test func `Of many who sign up with one address at once, one gets it`() async throws {
        try await SupabaseBed.with { bed in
            let answers = try await withThrowingTaskGroup(of: SupabaseBed.Answer.self) { group in
                for _ in 0..<12 { group.addTask { try await bed.signUp() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0.status == 200 } == 1)
            #expect(answers.count { $0.code == "user_already_exists" } == 11)
        }
    }

    @Test func `A refresh token is good once; its predecessor is forgiven, an older one ends the session`() async throws
    {
        try await SupabaseBed.with { bed in
            let first = try await bed.signUp()
            let second = try await bed.refresh(first.refreshToken)
            #expect(second.refreshToken != first.refreshToken)
            bed.advance(60)
            // The answer was lost.
            #expect(try await bed.refresh(first.refreshToken).refreshToken == second.refreshToken)
            let third = try await bed.refresh(second.refreshToken)
            // Within the interval even an older one is forgiven.
            #expect(try await bed.refresh(first.refreshToken).refreshToken == third.refreshToken)
            bed.advance(11)
            let stolen = try await bed.refresh(first.refreshToken)
            #expect((stolen.status, stolen.code) == (400, "refresh_token_already_used"))
            let gone = try await bed.refresh(third.refreshToken)
            #expect((gone.status, gone.code) == (400, "refresh_token_not_found"))
            let user = try await bed.auth(.get, "/user", as: third.token)
            #expect((user.status, user.code) == (403, "session_not_found"))
            #expect(try await bed.refresh("???").code == "validation_failed")
        }
    }

    @Test func `Refreshes at once get one and the same token`() async throws {
        try await SupabaseBed.with { bed in
            let first = try await bed.signUp()
            let tokens = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<12 { group.addTask { try await bed.refresh(first.refreshToken).refreshToken } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(tokens.count == 1)
            #expect(tokens.first?.isEmpty == false)
        }
    }

    @Test func `Refusals have the shape that the client asks for`() async throws {
        try await SupabaseBed.with { bed in
            let body: JSON = ["email": "ann@example.com", "password": "abc"]
            let old = try await bed.send(.post, "/auth/v1/signup", body)
            #expect(old.json["code"] == 422)
            #expect(old.json["error_code"] == "weak_password")
            #expect(old.json["weak_password"]?["reasons"] == ["length"])
            #expect(old.headers["X-Supabase-Api-Version"] == nil)
            let new = try await bed.auth(.post, "/signup", body)
            #expect(new.json["code"] == "weak_password")
            #expect(new.json["message"]?.string?.isEmpty == false)
            #expect(new.headers["X-Supabase-Api-Version"] == "2024-01-01")
            let token: JSON = ["provider": "google", "id_token": #"{"sub":"1","nonce":"x"}"#, "nonce": "y"]
            let oauth = try await bed.auth(.post, "/token?grant_type=id_token", token)
            #expect((oauth.status, oauth.json["error"]) == (400, "invalid request"))
            #expect(oauth.json["code"] == nil)
        }
    }

    @Test func `A changed address waits for both mailboxes`() async throws {
        try await SupabaseBed.with { bed in
            let session = try await bed.signUp()
            try await bed.run("select 1")
            let options = try await bed.auth(.get, "/settings")
            #expect(options.json["mailer_autoconfirm"] == true)
            let asked = try await bed.auth(.put, "/user", ["email": "new@example.com"], as: session.token)
            #expect(asked.json["email"] == "ann@example.com" && asked.json["new_email"] == "new@example.com")
            let code = try await bed.mail(to: "new@example.com")["token_hash"] ?? ""
            let other = try await bed.mail(to: "ann@example.com")["token_hash"] ?? ""
            let changed = try await bed.auth(.post, "/verify", ["type": "email_change", "token_hash": code])
            #expect(changed.json["user"]?["email"] == "new@example.com")
            let late = try await bed.auth(.post, "/verify", ["type": "email_change", "token_hash": other])
            #expect(late.status == 403)
        }
        try await SupabaseBed.with({ $0.auth.autoconfirmsEmails = false }) { bed in
            _ = try await bed.signUp()
            let code = try await bed.mail(to: "ann@example.com")["token_hash"] ?? ""
            let session = try await bed.auth(.post, "/verify", ["type": "email", "token_hash": code])
            let asked = try await bed.auth(.put, "/user", ["email": "new@example.com"], as: session.token)
            #expect(asked.json["new_email"] == "new@example.com")
            #expect(asked.json["email"] == "ann@example.com")
            func confirm(_ place: String) async throws -> SupabaseBed.Answer {
                let code = try await bed.mail(to: place)["code"] ?? ""
                return try await bed.auth(
                    .post, "/verify", ["type": "email_change", "email": .string(place), "token": code])
            }
            let first = try await confirm("new@example.com")
            #expect((first.status, first.json["code"], first.json["access_token"]) == (200, "200", nil))
            let second = try await confirm("ann@example.com")
            #expect(second.json["user"]?["email"] == "new@example.com")
        }
    }

    @Test func `A person's own data is laid over what is there, and null takes away`() async throws {
        try await SupabaseBed.with { bed in
            let token = try await bed.signUp().token
            _ = try await bed.auth(.put, "/user", ["data": ["a": 1, "b": ["c": 2]]], as: token)
            let user = try await bed.auth(.put, "/user", ["data": ["a": .null, "d": 3]], as: token)
            let data = user.json["user_metadata"]
            #expect(data?["a"] == nil && data?["b"] == ["c": 2] && data?["d"] == 3)
            #expect(data?["email"] == "ann@example.com" && data?["email_verified"] == true)
            #expect(try await bed.auth(.put, "/user", ["app_metadata": ["x": 1]], as: token).code == "not_admin")
        }
    }

    @Test func `A new password ends the other sessions and the codes that were sent`() async throws {
        try await SupabaseBed.with { bed in
            let first = try await bed.signUp()
            let other = try await bed.auth(
                .post, "/token?grant_type=password", ["email": "ann@example.com", "password": "secret"])
            _ = try await bed.auth(.post, "/recover", ["email": "ann@example.com"])
            let code = try await bed.mail(to: "ann@example.com")["token_hash"] ?? ""
            #expect(try await bed.auth(.put, "/user", ["password": "secret"], as: first.token).code == "same_password")
            #expect(try await bed.auth(.put, "/user", ["password": "secret 2"], as: first.token).status == 200)
            #expect(try await bed.refresh(other.refreshToken).code == "refresh_token_not_found")
            #expect(try await bed.refresh(first.refreshToken).status == 200)
            let late = try await bed.auth(.post, "/verify", ["type": "recovery", "token_hash": code])
            #expect(late.code == "otp_expired")
        }
    }

    @Test func `Leaving ends this session, the others or all`() async throws {
        try await SupabaseBed.with { bed in
            _ = try await bed.signUp()
            func signIn() async throws -> SupabaseBed.Answer {
                try await bed.auth(
                    .post, "/token?grant_type=password", ["email": "ann@example.com", "password": "secret"])
            }
            let (one, two, three) = (try await signIn(), try await signIn(), try await signIn())
            #expect(try await bed.auth(.post, "/logout?scope=local", as: one.token).status == 204)
            #expect(try await bed.auth(.get, "/user", as: one.token).status == 403)
            #expect(try await bed.auth(.get, "/user", as: two.token).status == 200)
            #expect(try await bed.auth(.post, "/logout?scope=others", as: two.token).status == 204)
            #expect(try await bed.auth(.get, "/user", as: three.token).status == 403)
            #expect(try await bed.auth(.post, "/logout", as: two.token).status == 204)
            #expect(try await bed.value("select count(*) from auth.sessions") == "0")
        }
    }

    @Test func `The service key makes, changes, lists and deletes accounts`() async throws {
        try await SupabaseBed.with { bed in
            let key = bed.supabase.serviceKey
            let made = try await bed.auth(
                .post, "/admin/users",
                ["email": "ann@example.com", "password": "secret", "email_confirm": true, "app_metadata": ["team": 7]],
                as: key)
            let id = try #require(made.json["id"]?.string)
            #expect(made.json["app_metadata"]?["team"] == 7)
            let password: JSON = ["email": "ann@example.com", "password": "secret"]
            #expect(try await bed.auth(.post, "/token?grant_type=password", password).status == 200)
            _ = try await bed.auth(.put, "/admin/users/\(id)", ["ban_duration": "1h30m"], as: key)
            #expect(try await bed.auth(.post, "/token?grant_type=password", password).code == "user_banned")
            bed.advance(5400)
            #expect(try await bed.auth(.post, "/token?grant_type=password", password).status == 200)
            #expect(try await bed.auth(.get, "/admin/users", as: key).json["users"]?.array?.count == 1)
            #expect(try await bed.auth(.delete, "/admin/users/\(id)", as: key).status == 200)
            #expect(try await bed.auth(.get, "/admin/users/\(id)", as: key).code == "user_not_found")
        }
    }

    @Test func `A project's trigger sees new accounts, and may refuse them`() async throws {
        try await SupabaseBed.with { bed in
            try await bed.run(
                "create table public.profiles (id uuid primary key references auth.users on delete cascade, name text)",
                """
                create function public.welcome() returns trigger language plpgsql security definer as $$ begin
                  if new.email like 'bad%' then raise exception 'not here'; end if;
                  insert into public.profiles values (new.id, new.raw_user_meta_data ->> 'name'); return new; end $$
                """,
                "create trigger welcome after insert on auth.users for each row execute function public.welcome()")
            let made = try await bed.auth(
                .post, "/signup", ["email": "ann@example.com", "password": "secret", "data": ["name": "Ann"]])
            #expect(made.status == 200)
            #expect(try await bed.value("select name from public.profiles") == "Ann")
            let refused = try await bed.signUp("bad")
            #expect((refused.status, refused.code) == (500, "unexpected_failure"))
            #expect(try await bed.value("select count(*) from auth.users") == "1")
        }
    }

    @Test func `A link in a mail leads to the app with a session, or with a code that wants the verifier`() async throws
    {
        try await SupabaseBed.with { bed in
            _ = try await bed.signUp()
            let redirect = "redirect_to=app%3A%2F%2Fback"
            _ = try await bed.auth(.post, "/otp?\(redirect)", ["email": "ann@example.com"])
            func follow() async throws -> String {
                let link = try #require(try await bed.mail(to: "ann@example.com")["link"]?.string)
                let path = String(link.dropFirst(bed.supabase.server.url.count))
                let answer = try await bed.send(.get, path, key: "")
                #expect(answer.status == 303)
                return answer.headers["Location"] ?? ""
            }
            #expect(try await follow().hasPrefix("app://back#access_token="))
            #expect(try await follow().contains("error_code=otp_expired"))

            let verifier = String(repeating: "v", count: 50)
            let challenge = Base64.encode(SHA256.digest(of: Array(verifier.utf8)), alphabet: .url)
            _ = try await bed.auth(
                .post, "/otp?\(redirect)",
                ["email": "ann@example.com", "code_challenge": .string(challenge), "code_challenge_method": "s256"])
            let target = try await follow()
            #expect(target.hasPrefix("app://back?code="))
            let code = String(target.dropFirst("app://back?code=".count))
            func exchange(_ verifier: String) async throws -> SupabaseBed.Answer {
                try await bed.auth(
                    .post, "/token?grant_type=pkce", ["auth_code": .string(code), "code_verifier": .string(verifier)])
            }
            #expect(try await exchange(String(repeating: "w", count: 50)).code == "bad_code_verifier")
            #expect(try await exchange(verifier).status == 200)
            #expect(try await exchange(verifier).code == "flow_state_not_found")
        }
    }
}

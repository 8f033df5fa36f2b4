import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// What people try who want to see or do more than they may. None of it works.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SupabaseIsolationTests {
    /// Ann with a note of her own, and Ben, who wants it.
    private struct Scene {
        let bed: SupabaseBed
        let ann: SupabaseBed.Answer
        let ben: SupabaseBed.Answer
        var annID: String { ann.json["user"]?["id"]?.string ?? "" }
    }

    private func withScene(_ body: (Scene) async throws -> Void) async throws {
        try await SupabaseBed.with { bed in
            try await bed.run(
                "create table public.notes (id int primary key, owner uuid not null default auth.uid(), body text)",
                "alter table public.notes enable row level security",
                "create policy own on public.notes to authenticated using (owner = (select auth.uid()))",
                "create view public.all_notes with (security_invoker = on) as select * from public.notes",
                "create table public.closed (x int)", "revoke all on public.closed from anon, authenticated",
                "create schema private", "create table private.secrets (x int)",
                "create function private.leak() returns int language sql as 'select 1'",
                "create function public.note_count() returns bigint language sql stable as 'select count(*) from public.notes'",
                "create function public.admins_only() returns int language sql as 'select 1'",
                "revoke all on function public.admins_only() from public, anon, authenticated")
            let scene = Scene(bed: bed, ann: try await bed.signUp("ann"), ben: try await bed.signUp("ben"))
            let note = try await bed.send(
                .post, "/rest/v1/notes", ["id": 1, "body": "Ann's secret"], as: scene.ann.token)
            #expect(note.status == 201)
            let seen = try await bed.send(.get, "/rest/v1/notes", as: scene.ann.token)
            #expect(seen.json[0]?["body"] == "Ann's secret")
            try await body(scene)
        }
    }

    @Test func `Another's rows are neither read, counted, changed, taken nor removed`() async throws {
        try await withScene { scene in
            let (bed, ben) = (scene.bed, scene.ben.token)
            let rows: HTTPHeaders = ["Prefer": "return=representation,count=exact"]
            let reads = [
                "/notes", "/notes?id=eq.1", "/notes?or=(id.eq.1,owner.not.is.null)", "/notes?owner=eq.\(scene.annID)",
                "/all_notes", "/notes?select=*&order=id&limit=10", "/notes?body=like.*",
            ]
            for path in reads {
                for token in [ben, bed.supabase.anonKey] {
                    let answer = try await bed.send(.get, "/rest/v1" + path, as: token, rows)
                    #expect(answer.json == [], "\(path)")
                    #expect(answer.headers["Content-Range"] == "*/0", "\(path)")
                }
            }
            #expect(try await bed.send(.get, "/rest/v1/rpc/note_count", as: ben).json == 0)
            #expect(try await bed.send(.patch, "/rest/v1/notes?id=eq.1", ["body": "x"], as: ben, rows).json == [])
            #expect(try await bed.send(.delete, "/rest/v1/notes?id=eq.1", as: ben, rows).json == [])
            let stolen = try await bed.send(
                .post, "/rest/v1/notes", ["id": 2, "owner": .string(scene.annID)], as: ben)
            #expect((stolen.status, stolen.code) == (403, "42501"))
            let merged = try await bed.send(
                .post, "/rest/v1/notes", ["id": 1, "body": "x"], as: ben, ["Prefer": "resolution=merge-duplicates"])
            #expect((merged.status, merged.code) == (403, "42501"))
            let given = try await bed.send(.post, "/rest/v1/notes", ["id": 3], as: ben)
            #expect(given.status == 201)
            let away = try await bed.send(
                .patch, "/rest/v1/notes?id=eq.3", ["owner": .string(scene.annID)], as: ben)
            #expect((away.status, away.code) == (403, "42501"))
            let signedOut = try await bed.send(.post, "/rest/v1/notes", ["id": 4, "owner": .string(scene.annID)])
            #expect((signedOut.status, signedOut.code) == (401, "42501"))
            #expect(try await bed.value("select body from public.notes where id = 1") == "Ann's secret")
        }
    }

    @Test func `What is not exposed cannot be reached by any path`() async throws {
        try await withScene { scene in
            let (bed, ben) = (scene.bed, scene.ben.token)
            let paths = [
                "/rest/v1/users", "/rest/v1/auth.users", "/rest/v1/%22auth%22.%22users%22", "/rest/v1/secrets",
                "/rest/v1/private.secrets", "/rest/v1/../auth/users", "/rest/v1/auth%2Fusers", "/rest/v1/auth/users",
                "/rest/v1/pg_authid", "/rest/v1/pg_catalog.pg_authid", "/rest/v1/notes%00", "/rest/v1/notes;",
                "/rest/v1/%22notes%22", "/rest/v1/notes%20n", "/rest/v1/rpc/leak", "/rest/v1/rpc/private.leak",
                "/rest/v1/rpc/set_config?setting_name=role&new_value=postgres&is_local=false",
                "/rest/v1/rpc/pg_sleep?seconds=0", "/rest/v1/rpc/current_setting?setting_name=role",
                "/rest/v1/rpc/crypt", "/rest/v1/rpc/uid", "/rest//v1/users",
            ]
            for path in paths {
                let answer = try await bed.send(.get, path, as: ben)
                #expect(answer.status == 404, "\(path): \(answer.status) \(answer.json.text())")
            }
            for schema in ["auth", "private", "pg_catalog", "information_schema", "public, auth", "\"auth\"", ""] {
                let answer = try await bed.send(.get, "/rest/v1/users", as: ben, ["Accept-Profile": .init(schema)])
                #expect(answer.status == 406 || (schema.isEmpty && answer.status == 404), "\(schema)")
                let call = try await bed.send(
                    .post, "/rest/v1/rpc/leak", [:], as: ben, ["Content-Profile": .init(schema)])
                #expect(call.status == 406 || (schema.isEmpty && call.status == 404), "\(schema)")
            }
            for (token, status) in [(ben, 403), (bed.supabase.anonKey, 401)] {
                let table = try await bed.send(.get, "/rest/v1/closed", as: token)
                #expect((table.status, table.code) == (status, "42501"))
                let function = try await bed.send(.post, "/rest/v1/rpc/admins_only", [:], as: token)
                #expect((function.status, function.code) == (status, "42501"))
            }
        }
    }

    @Test func `A request brings no SQL with it`() async throws {
        try await withScene { scene in
            let (bed, ben) = (scene.bed, scene.ben.token)
            func encoded(_ text: String) -> String { PercentCoding.encode(text) }
            let queries = [
                "id=" + encoded("eq.1) or (1=1"), "id=" + encoded("eq.1; delete from notes"),
                encoded("id\" is not null or \"id") + "=eq.1", encoded("id)::text") + "=eq.1",
                "select=" + encoded("id,(select body from notes)"), "select=" + encoded("id\",body"),
                "select=" + encoded("id::text); drop table notes--"), "select=" + encoded("id::\"text\""),
                "order=" + encoded("id;drop table notes"), "order=" + encoded("(select 1)"),
                "order=" + encoded("id.desc,(case when 1=1 then id end)"), "id=" + encoded("in.(1) or true"),
                "or=" + encoded("(id.eq.1) or (true)"), "id=" + encoded("is.null or true"),
                "id=" + encoded("eq(any) or 1=any.{1}"), "body=" + encoded("fts(english') or true--).x"),
                encoded("body->>'x' or true--") + "=eq.1", encoded("notes.*") + "=eq.1", "ctid=eq.(0,1)",
                "tableoid=eq.1", encoded("row_to_json") + "=eq.1", "select=notes", "select=pg_sleep",
                "on_conflict=" + encoded("id) do nothing; --"), "columns=" + encoded("id) select 1; --"),
            ]
            for query in queries {
                let read = try await bed.send(.get, "/rest/v1/notes?\(query)", as: ben)
                // Some are read as odd names or values, and find nothing.
                #expect(read.status >= 400 || read.json == [], "\(query): \(read.status) \(read.json.text())")
                let write = try await bed.send(
                    .post, "/rest/v1/notes?\(query)", ["id": 77, "owner": .string(scene.annID)], as: ben)
                #expect(write.status >= 400, "\(query): \(write.status)")
                let gone = try await bed.send(.delete, "/rest/v1/notes?\(query)", as: ben)
                #expect(gone.status >= 400 || gone.status == 204, "\(query): \(gone.status)")
            }
            for name in ["id\") values (1); --", "body\" = 'x', \"owner", "nope"] {
                let answer = try await bed.send(.post, "/rest/v1/notes", .object([name: 1]), as: ben)
                #expect((answer.status, answer.code) == (400, "PGRST204"))
            }
            #expect(try await bed.value("select count(*) || min(body) from public.notes") == "1Ann's secret")
        }
    }

    @Test func `Tokens that were made up, altered or outlived open nothing`() async throws {
        try await withScene { scene in
            let (bed, secret) = (scene.bed, scene.bed.supabase.context.access.secret)
            let claims: JSONObject = [
                "sub": .string(scene.annID), "role": "authenticated", "aud": "authenticated", "exp": 4_000_000_000,
            ]
            func signed(_ change: (inout JSONObject) -> Void, header: JSON? = nil, key: [UInt8]? = nil) -> String {
                var claims = claims
                change(&claims)
                guard let header else { return SupabaseToken(claims: claims).text(secret: key ?? secret) }
                let text = [header, .object(claims)].map { Base64.encode($0.bytes(), alphabet: .url) }
                    .joined(separator: ".")
                return text + "."
                    + Base64.encode(HMACSHA256.code(for: Array(text.utf8), key: key ?? secret), alphabet: .url)
            }
            let parts = scene.ann.token.split(separator: ".").map(String.init)
            let risen = signed({ $0["role"] = "service_role" }).split(separator: ".").map(String.init)
            let forged: [(String, String)] = [
                ("another key", signed({ _ in }, key: Array("guess".utf8))),
                ("an empty key", signed({ _ in }, key: [])),
                ("no algorithm", signed({ _ in }, header: ["alg": "none", "typ": "JWT"])),
                ("another algorithm", signed({ _ in }, header: ["alg": "HS512", "typ": "JWT"])),
                ("no signature", parts[0] + "." + parts[1] + "."),
                ("two parts", parts[0] + "." + parts[1]),
                ("other claims", [parts[0], risen[1], parts[2]].joined(separator: ".")),
                ("a time that is over", signed { $0["exp"] = 1 }),
                ("the database's owner", signed { $0["role"] = "postgres" }),
                ("the role that requests arrive as", signed { $0["role"] = "authenticator" }),
                ("a role that is SQL", signed { $0["role"] = "anon; reset role" }),
                ("nothing of a token", "nonsense"),
            ]
            // What the project's own secret has signed is for the database to refuse.
            let isSigned: Set = ["the database's owner", "the role that requests arrive as"]
            for (what, token) in forged {
                let rest = try await bed.send(.get, "/rest/v1/notes", as: token)
                #expect(rest.status == (isSigned.contains(what) ? 403 : 401), "\(what): \(rest.status)")
                let auth = try await bed.auth(.get, "/user", as: token)
                #expect(auth.status == 403, "\(what): \(auth.status)")
                let admin = try await bed.auth(.get, "/admin/users", as: token)
                #expect(admin.status == 403, "\(what): \(admin.status)")
                let key = try await bed.send(.get, "/auth/v1/user", key: token)
                #expect(key.status == 401, "\(what): \(key.status)")
            }
            bed.advance(3600 + 31)
            let late = try await bed.send(.get, "/rest/v1/notes", as: scene.ann.token)
            #expect((late.status, late.code) == (401, "PGRST303"))
            #expect(try await bed.auth(.get, "/user", as: scene.ann.token).code == "bad_jwt")
        }
    }

    @Test func `Accounts are their owners' and the service key's alone`() async throws {
        try await withScene { scene in
            let (bed, ben) = (scene.bed, scene.ben.token)
            for token in [ben, bed.supabase.anonKey] {
                for (method, path) in [
                    (HTTPMethod.get, "/admin/users"), (.post, "/admin/users"), (.get, "/admin/users/\(scene.annID)"),
                    (.put, "/admin/users/\(scene.annID)"), (.delete, "/admin/users/\(scene.annID)"), (.post, "/invite"),
                ] {
                    let body: JSON? = method == .get ? nil : ["email": "eve@example.com"]
                    let answer = try await bed.auth(method, path, body, as: token)
                    #expect((answer.status, answer.code) == (403, "not_admin"), "\(method) \(path)")
                }
                let sent = try await bed.send(.get, "/_supabase/sent", as: token)
                #expect(sent.status == 403)
            }
            #expect(try await bed.auth(.get, "/user").status == 401)
            #expect(try await bed.auth(.get, "/user", as: bed.supabase.serviceKey).code == "bad_jwt")
            #expect(try await bed.send(.get, "/auth/v1/user", as: ben, key: "wrong").status == 401)

            // Ann's factor and identity are not Ben's to prove or remove.
            let factor = try await bed.auth(.post, "/factors", ["factor_type": "totp"], as: scene.ann.token)
            let id = factor.json["id"]?.string ?? ""
            #expect(try await bed.auth(.post, "/factors/\(id)/challenge", [:], as: ben).code == "mfa_factor_not_found")
            #expect(try await bed.auth(.delete, "/factors/\(id)", as: ben).code == "mfa_factor_not_found")
            let identity = scene.ann.json["user"]?["identities"]?[0]?["identity_id"]?.string ?? ""
            #expect(try await bed.auth(.delete, "/user/identities/\(identity)", as: ben).code == "identity_not_found")
            for path in ["/factors/x'%20or%20true--/challenge", "/factors/%00/challenge"] {
                #expect(try await bed.auth(.post, path, [:], as: ben).status == 404)
            }
            let taken = try await bed.auth(.put, "/user", ["email": "ann@example.com"], as: ben)
            #expect((taken.status, taken.code) == (422, "email_exists"))
            #expect(try await bed.auth(.put, "/user", ["app_metadata": ["admin": true]], as: ben).code == "not_admin")
            _ = try await bed.auth(.put, "/user", ["data": ["role": "service_role"]], as: ben)
            let after = try await bed.refresh(scene.ben.refreshToken)
            #expect(try bed.supabase.context.access.token(after.token).role == "authenticated")
        }
    }

    @Test func `The tables of accounts are closed to people, also to their functions`() async throws {
        try await withScene { scene in
            let bed = scene.bed
            try await bed.run(
                "create function public.peek() returns bigint language sql as 'select count(*) from auth.users'",
                "create function public.become() returns text language plpgsql as $$ begin set role postgres; return current_user; end $$",
                "create function public.reset_role() returns text language plpgsql as $$ begin reset role; return current_user; end $$"
            )
            for name in ["peek", "become"] {
                let answer = try await bed.send(.post, "/rest/v1/rpc/\(name)", [:], as: scene.ben.token)
                #expect((answer.status, answer.code) == (403, "42501"), "\(name)")
            }
            // Below the role of a token there is only one that may do nothing.
            let reset = try await bed.send(.post, "/rest/v1/rpc/reset_role", [:], as: scene.ben.token)
            #expect(reset.json == "authenticator")
            #expect(try await bed.send(.get, "/rest/v1/notes", as: scene.ben.token).json == [])
        }
    }
}

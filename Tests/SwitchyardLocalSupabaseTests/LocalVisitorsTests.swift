import Foundation
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// Who gets an answer from a local Supabase: pages on this machine, callers with a key, and tokens that say no more than they may.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct LocalVisitorsTests {
    @Test func `A page elsewhere neither reads nor writes, opens no socket and sets no fault`() async throws {
        try await SupabaseBed.with({ $0.origins = ["https://app.example.com"] }) { bed in
            try await bed.run("create table notes (x int)")
            let server = bed.supabase.server
            let key = bed.supabase.anonKey
            let socket = "/realtime/v1/websocket?vsn=1.0.0&apikey=\(key)"
            for (line, body) in [
                ("GET /rest/v1/notes HTTP/1.1", ""), ("OPTIONS /rest/v1/notes HTTP/1.1", ""),
                ("POST /rest/v1/notes HTTP/1.1", #"{"x":1}"#),
                ("POST /_faults HTTP/1.1", #"{"fault":"drop","times":null}"#),
                ("POST /_supabase/faults HTTP/1.1", #"{"refuseWebSockets":true}"#),
                ("POST /auth/v1/signup?apikey=\(key) HTTP/1.1", #"{"email":"eve@example.com","password":"secret"}"#),
                (
                    "GET \(socket) HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
                    ""
                ),
            ] {
                for attack in [
                    ["Host: 127.0.0.1", "Origin: https://evil.example"], ["Host: 127.0.0.1", "Origin: null"],
                    ["Host: evil.example:\(server.port)", "Origin: http://evil.example:\(server.port)"],
                    ["Host: evil.example", "Accept: */*"],
                ] {
                    let answer = try await PlainClient.ask(
                        server, line, attack[0], attack[1], "apikey: \(key)", "Content-Type: text/plain", body: body)
                    #expect(answer.status == 403, "\(line) \(attack)")
                    #expect(!answer.head.lowercased().contains("access-control-"), "\(line) \(attack)")
                }
            }
            #expect(try await bed.value("select count(*) from notes") == "0")
            #expect(try await bed.value("select count(*) from auth.users") == "0")
            #expect(!bed.supabase.realtimeFaults.refusesWebSockets && bed.supabase.realtimeSessions.isEmpty)
            for origin in ["http://localhost:3000", "https://app.example.com"] {
                let answer = try await bed.send(.get, "/rest/v1/notes", nil, ["Origin": origin])
                #expect(answer.status == 200)
                #expect(answer.headers["Access-Control-Allow-Origin"] == origin)
            }
        }
    }

    // MARK: Tokens

    /// A token that anybody can write, of a project that does not sign.
    private static func unsigned(_ project: String, role: JSON?) -> String {
        var claims: JSONObject = [
            "iss": .string("https://securetoken.google.com/\(project)"), "aud": .string(project), "sub": "eve",
            "iat": 1_800_000_000, "exp": 1_800_003_600,
        ]
        claims["role"] = role
        let text = [["alg": "none", "typ": "JWT"], claims].map {
            Base64.encode(JSON.object($0).bytes(), alphabet: .url)
        }
        return text.joined(separator: ".") + "."
    }

    @Test func `A token that anybody can write makes no one the service`() async throws {
        let project = try FirebaseProject("demo-mix")
        try await SupabaseBed.with({
            $0.firebase = project
            $0.buckets = ["files"]
        }) { bed in
            try await bed.run(
                "create table notes (x int)", "insert into notes values (1)",
                "alter table notes enable row level security")
            let server = bed.supabase.server
            for role: JSON in [
                "service_role", "postgres", "supabase_admin", "authenticator", "anon", "", .null, 1, ["service_role"],
            ] {
                let forged = Self.unsigned("demo-mix", role: role)
                let rows = try await bed.send(.get, "/rest/v1/notes", as: forged)
                #expect(rows.status == 401 && rows.json.array == nil, "\(role)")
                #expect(try await bed.send(.get, "/storage/v1/bucket", as: forged).status == 400, "\(role)")
                #expect(try await bed.send(.post, "/auth/v1/admin/users", [:], as: forged).status == 403, "\(role)")
                #expect(try await bed.send(.get, "/_supabase/sent", as: forged, key: forged).status == 403, "\(role)")
                let socket = try await PlainClient.ask(
                    server, "GET /realtime/v1/websocket?apikey=\(forged) HTTP/1.1", "Host: localhost")
                #expect(socket.status == 401, "\(role)")
                let sent = try await bed.send(
                    .post, "/realtime/v1/api/broadcast", ["messages": []], as: forged)
                #expect(sent.status == 401, "\(role)")
            }
            let user = Self.unsigned("demo-mix", role: "authenticated")
            #expect(try await bed.send(.get, "/rest/v1/notes", as: user).json == [])
        }
    }

    @Test func `A secret that a folder has lost is recreated, so that no one signs with nothing`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("supabase-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for content in ["", "short"] {
            let place = try LocalSupabaseFolder(folder)
            try Data(content.utf8).write(to: folder.appendingPathComponent("secret"))
            #expect(try place.secret().count >= 32)
            place.release()
        }
    }

    // MARK: The gateway

    @Test func `A session's token alone does not pass the gateway`() async throws {
        try await SupabaseBed.with({ $0.buckets = ["files"] }) { bed in
            try await bed.run("create table notes (x int)")
            let token = bed.supabase.accessToken(for: "ann")
            let server = bed.supabase.server
            for line in [
                "GET /rest/v1/notes HTTP/1.1", "POST /rest/v1/rpc/nothing HTTP/1.1", "GET /storage/v1/bucket HTTP/1.1",
                "GET /storage/v1/object/files/a HTTP/1.1", "GET /storage/v1/object/authenticated/files/a HTTP/1.1",
                "POST /storage/v1/object/files/a HTTP/1.1", "POST /storage/v1/upload/resumable HTTP/1.1",
                "POST /realtime/v1/api/broadcast HTTP/1.1", "GET /auth/v1/user HTTP/1.1",
            ] {
                for (field, words) in [
                    ("X-None: 1", "No API key found in request"), ("apikey: \(token)x", "Invalid API key"),
                ] {
                    let answer = try await PlainClient.ask(
                        server, line, "Host: localhost", "Authorization: Bearer \(token)", field)
                    #expect(answer.status == 401, "\(line) \(field)")
                    #expect(answer.body.contains(words), "\(line) \(answer.body)")
                }
            }
            for line in ["GET /rest/v1/notes HTTP/1.1", "GET /storage/v1/bucket HTTP/1.1"] {
                let path = line.replacingOccurrences(of: " HTTP", with: "?apikey=\(bed.supabase.anonKey) HTTP")
                let answer = try await PlainClient.ask(
                    server, path, "Host: localhost", "Authorization: Bearer \(token)")
                #expect(answer.status == 200, "a key in the address counts as well: \(answer.body)")
            }
        }
    }

    @Test func `A lifetime and a limit may be written as text, and have to be numbers`() async throws {
        try await SupabaseBed.with { bed in
            let service = bed.supabase.serviceKey
            _ = try await bed.send(.post, "/storage/v1/bucket", ["name": "b"], as: service)
            _ = try await bed.send(.post, "/storage/v1/object/b/a", ["n": 1], as: service)
            for (seconds, status): (JSON, Int) in [
                (60, 200), ("60", 200), ("0", 400), (0, 400), ("", 400), ("soon", 400), ("9223372036854775807", 400),
                ("9223372036854775808", 400), (.integer(.max), 400), (.integer(.min), 400), (.null, 400), ([], 400),
            ] {
                let answer = try await bed.send(
                    .post, "/storage/v1/object/sign/b/a", ["expiresIn": seconds], as: service)
                #expect(answer.status == status, "\(seconds)")
                let many = try await bed.send(
                    .post, "/storage/v1/object/sign/b", ["expiresIn": seconds, "paths": ["a"]], as: service)
                #expect(many.status == status, "\(seconds)")
            }
            let zero = try await bed.send(.post, "/storage/v1/object/list/b", ["prefix": "a\u{0}"], as: service)
            #expect(zero.status == 400 && zero.json["statusCode"] == "400", "\(zero.json)")
            let listed = try await bed.send(
                .post, "/storage/v1/object/list/b", ["prefix": "", "limit": "1", "offset": "0"], as: service)
            #expect(listed.json.array?.count == 1)
        }
    }

    // MARK: Databases of others

    /// What a real service has in a database: the record of its migrations.
    private static let ledgers = [
        "create schema auth; create table auth.schema_migrations (version varchar(255) primary key)",
        "create schema storage; create table storage.migrations (id int, name text, hash text)",
        "create schema realtime; create table realtime.schema_migrations (version bigint, inserted_at timestamp)",
        "create schema _realtime; create table _realtime.schema_migrations (version bigint, inserted_at timestamp)",
    ]

    /// Everything that a start could change.
    private static let contents = """
        select coalesce(string_agg(x, E'\\n' order by x), '') from (
          select 'schema ' || nspname || coalesce(nspacl::text, '') from pg_namespace where nspname !~ '^pg_(toast|temp)'
          union all select 'relation ' || oid::regclass::text || relkind::text || relrowsecurity::text || coalesce(relacl::text, '') from pg_class
            where relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
          union all select 'function ' || oid::regprocedure::text || prosrc from pg_proc
            where pronamespace::regnamespace::text !~ '^(pg_|information_schema)'
          union all select 'trigger ' || tgname from pg_trigger union all select 'policy ' || polname from pg_policy
          union all select 'extension ' || extname from pg_extension
          union all select 'publication ' || pubname from pg_publication
          union all select 'default ' || defaclacl::text from pg_default_acl
        ) as all_things (x)
        """

    @Test(arguments: ledgers)
    func `The database of a real project is refused, and nothing in it has changed`(_ ledger: String) async throws {
        let database = try await PostgresServer()
        try await database.query(ledger)
        let before = try await database.query(Self.contents)
        var options = LocalSupabaseOptions()
        options.database = database.place
        options.scripts = ["create table public.mine ()"]
        let error = await #expect(throws: LocalSupabaseError.self) { _ = try await LocalSupabase(options) }
        #expect(error?.message.contains("belongs to a real Supabase project") == true)
        #expect(error?.message.contains("nothing was done") == true && error?.message.contains(database.name) == true)
        #expect(try await database.query(Self.contents) == before)
    }

    @Test func `A database that a local Supabase has set up is taken again`() async throws {
        let database = try await PostgresServer()
        var options = LocalSupabaseOptions()
        options.database = database.place
        for _ in 0..<2 { await (try LocalSupabase(options)).stop() }
    }
}

import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// Whom requests come from: roles of the project's own, tokens that are none, and services without their gateway.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct LocalCallersTests {
    private func token(_ bed: SupabaseBed, _ claims: JSONObject) -> String {
        SupabaseToken(claims: claims).text(secret: bed.supabase.context.access.secret)
    }

    @Test func `A role that is granted to the authenticator is taken, others are refused by the database`() async throws
    {
        try await SupabaseBed.with { bed in
            let role = "clerk_\(RandomID.make(length: 8).lowercased())"
            try await bed.run(
                "create table public.notes (x int)", "create role \(role) nologin", "grant \(role) to authenticator",
                "grant usage on schema public to \(role)", "grant select on public.notes to \(role)")
            let cases: [(JSON, Int, String?)] = [
                (.string(role), 200, nil), ("no_such_role", 401, "22023"), ("postgres", 403, "42501"),
                (5, 401, "22023"),
            ]
            for (name, status, code) in cases {
                let answer = try await bed.send(.get, "/rest/v1/notes", as: token(bed, ["role": name]))
                #expect((answer.status, answer.code) == (status, code), "\(name): \(answer.text)")
            }
            // Other services know only the roles that every project has.
            let files = try await bed.send(.get, "/storage/v1/bucket", as: token(bed, ["role": .string(role)]))
            #expect(files.status == 400)
            try await bed.run("drop owned by \(role)", "drop role \(role)")
        }
    }

    @Test func `What is wrong with a token is told`() async throws {
        try await SupabaseBed.with { bed in
            let good = token(bed, ["role": "anon"])
            let parts = good.split(separator: ".")
            let unsigned = Base64.encode(Array(#"{"alg":"none"}"#.utf8), alphabet: .url)
            let foreign = SupabaseToken(claims: ["role": "anon"]).text(secret: [1, 2, 3])
            let cases: [(String, String, String, JSON)] = [
                ("", "PGRST301", "Empty JWT is sent in Authorization header", .null),
                ("a.b", "PGRST301", "Expected 3 parts in JWT; got 2", .null),
                ("a.b.c", "PGRST301", "JWT cryptographic operation failed", .null),
                (
                    foreign, "PGRST301", "No suitable key or wrong key type",
                    "None of the keys was able to decode the JWT"
                ),
                (
                    "\(unsigned).\(parts[1]).", "PGRST301", "Wrong or unsupported encoding algorithm",
                    "JWT is unsecured but expected 'alg' was not 'none'"
                ),
                (token(bed, ["exp": "soon"]), "PGRST303", "The JWT 'exp' claim must be a number", .null),
                (
                    token(bed, ["aud": 5]), "PGRST303", "The JWT 'aud' claim must be a string or an array of strings",
                    .null
                ),
                (token(bed, ["exp": 1]), "PGRST303", "JWT expired", .null),
            ]
            for (text, code, message, details) in cases {
                let answer = try await bed.send(.get, "/rest/v1/nothing", as: text)
                #expect((answer.status, answer.code) == (401, code), "\(message): \(answer.text)")
                #expect(answer.json["message"] == .string(message) && answer.json["details"] == details)
            }
        }
    }

    @Test func `Without the gateway each service answers callers without a key itself`() async throws {
        try await SupabaseBed.with({ $0.hasGateway = false }) { bed in
            try await bed.run("create table public.notes (x int)", "insert into public.notes values (1)")
            let preflight: HTTPHeaders = [
                "Origin": "http://127.0.0.1:3000", "Access-Control-Request-Method": "POST",
            ]
            let cases: [(HTTPMethod, String, HTTPHeaders, Int, String)] = [
                (.get, "/rest/v1/notes", [:], 200, #"[{"x":1}]"#),
                (.get, "/storage/v1/bucket", [:], 400, "headers must have required property 'authorization'"),
                (.options, "/rest/v1/notes", preflight, 200, ""),
                (.options, "/storage/v1/bucket", preflight, 404, "Route OPTIONS:/bucket not found"),
            ]
            for (method, path, headers, status, words) in cases {
                let answer = try await bed.send(method, path, nil, headers)
                #expect(answer.status == status, "\(method) \(path): \(answer.text)")
                #expect(words.isEmpty || answer.text.contains(words), "\(method) \(path): \(answer.text)")
            }
        }
    }
}

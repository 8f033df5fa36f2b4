import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// Functions called with every kind of body, and chosen among those with one name.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RESTCallingTests {
    private static let functions = """
        create or replace function public.sum2(a int, b int default 2) returns int language sql stable as 'select a + b';
        create or replace function public.cut(s char) returns text language sql stable as 'select s';
        create or replace function public.whole_text(text) returns text language sql stable as 'select upper($1)';
        create or replace function public.whole_xml(xml) returns xml language sql stable as 'select $1';
        create or replace function public.whole_bytes(bytea) returns int language sql stable as 'select length($1)';
        create or replace function public.whole_json(json) returns json language sql stable as 'select $1';
        create or replace function public.two(text, int) returns int language sql stable as 'select 1';
        create or replace function public.same(id int) returns table (id int, name text) language sql stable
          as $$ select i, 'n' || i from generate_series(1, $1) i $$;
        create or replace function public.loose() returns record language sql stable as $$ select 1 as a, 'x'::text as b $$;
        create or replace function public.looses() returns setof record language sql stable
          as $$ select i as a, 'x'::text as b from generate_series(1, 2) i $$;
        create table if not exists public.calls (n int primary key generated always as identity);
        create or replace function public.call_up(times int) returns setof public.calls language sql as $$
          insert into public.calls select from generate_series(1, times) returning n $$;
        create or replace function public.pick(a int) returns text language sql stable as $$ select 'int' $$;
        create or replace function public.pick(a text) returns text language sql stable as $$ select 'text' $$;
        create or replace function public.pick(a int, b int) returns text language sql stable as $$ select 'two' $$;
        """

    private func withBed(_ body: (SupabaseBed) async throws -> Void) async throws {
        try await SupabaseBed.with({ $0.scripts = [Self.functions] }, body)
    }

    @Test func `Arguments come as a form, as text, XML or bytes, and in the first object of a list`() async throws {
        try await withBed { bed in
            let form = "application/x-www-form-urlencoded"
            let cases: [(String, String, String, JSON)] = [
                ("sum2", form, "a=1&b=4", 5), ("sum2", form, "a=1", 3),
                ("sum2", "application/json", #"[{"a":1,"b":2}]"#, 3),
                ("sum2", "text/csv", "a,b\n1,9", 10), ("cut", "application/json", #"{"s":"abcdef"}"#, "abcdef"),
                ("whole_text", "text/plain; charset=utf-8", "hello", "HELLO"),
                ("whole_xml", "text/xml", "<a/>", "<a/>"),
                ("whole_bytes", "application/octet-stream", "abc", 3),
                ("whole_json", "application/json", #"{"a":  [1]}"#, ["a": [1]]),
                ("whole_json", "application/json", "", [:]),
                ("sum2?columns=a", "application/json", #"{"a":1,"b":50}"#, 3),
            ]
            for (name, type, body, expected) in cases {
                let answer = try await bed.send(
                    .post, "/rest/v1/rpc/\(name)", bytes: Array(body.utf8), ["Content-Type": .init(type)])
                #expect((answer.status, answer.json) == (200, expected), "\(name) \(type): \(answer.text)")
            }
        }
    }

    @Test func `Bodies that no function takes are refused`() async throws {
        try await withBed { bed in
            let cases: [(String, String, String, Int, String, String)] = [
                ("sum2", "image/png", "x", 400, "PGRST102", "Content-Type not acceptable: image/png"),
                ("sum2", "application/json", "{", 400, "PGRST102", "Empty or invalid json"),
                ("whole_json", "application/json", "[1,2]", 400, "PGRST102", "All object keys must match"),
                (
                    "sum2", "text/plain", "x", 404, "PGRST202",
                    "Could not find the function public.sum2 in the schema cache"
                ),
                (
                    "two", "application/json", "{}", 404, "PGRST202",
                    "Could not find the function public.two without parameters in the schema cache"
                ),
            ]
            for (name, type, body, status, code, message) in cases {
                let answer = try await bed.send(
                    .post, "/rest/v1/rpc/\(name)", bytes: Array(body.utf8), ["Content-Type": .init(type)])
                #expect((answer.status, answer.code) == (status, code), "\(name) \(type): \(answer.text)")
                #expect(answer.json["message"] == .string(message))
            }
            for method in [HTTPMethod.put, .delete, .patch] {
                let refused = try await bed.send(method, "/rest/v1/rpc/sum2")
                #expect((refused.status, refused.code) == (405, "PGRST101"))
                #expect(refused.json["message"] == .string("Cannot use the \(method.rawValue) method on RPC"))
            }
        }
    }

    @Test func `Rows of no table are rows all the same, and conditions may have an argument's name`() async throws {
        try await withBed { bed in
            let cases: [(String, JSON)] = [
                ("loose", ["a": 1, "b": "x"]), ("looses", [["a": 1, "b": "x"], ["a": 2, "b": "x"]]),
                ("same?id=3&id=gt.1&select=name", [["name": "n2"], ["name": "n3"]]),
                ("same?id=3&name=fts.n2&select=id", [["id": 2]]), ("sum2?a=1&pgrst_scalar=eq.4", .null),
            ]
            for (path, expected) in cases {
                let answer = try await bed.send(.get, "/rest/v1/rpc/\(path)")
                #expect((answer.status, answer.json) == (200, expected), "\(path): \(answer.text)")
            }
            let missing = try await bed.send(.post, "/rest/v1/rpc/sum2?select=x", ["a": 1])
            #expect((missing.status, missing.code) == (400, "42703"))
            #expect(missing.json["message"] == "column sum2.x does not exist")
            let table = try await bed.send(.post, "/rest/v1/rpc/sum2", ["a": 1], ["Accept": "text/csv"])
            #expect(table.text == "pgrst_scalar\n3")
            let json = try await bed.send(.get, "/rest/v1/rpc/sum2?a=1", nil, ["Prefer": "count=exact"])
            #expect((json.json, json.headers["Content-Range"]) == (3, "0-0/1"))
        }
    }

    @Test func `What changes things is called once, however its rows are counted`() async throws {
        try await withBed { bed in
            let counted = try await bed.send(
                .post, "/rest/v1/rpc/call_up?n=gt.1&limit=1&order=n", ["times": 4], ["Prefer": "count=exact"])
            #expect((counted.status, counted.json) == (206, [["n": 2]]), "\(counted.text)")
            #expect(counted.headers["Content-Range"] == "0-0/3")
            #expect(try await bed.value("select count(*) from public.calls") == "4")
            let beyond = try await bed.send(
                .post, "/rest/v1/rpc/call_up?offset=9", ["times": 1], ["Prefer": "count=exact"])
            #expect((beyond.status, beyond.code) == (416, "PGRST103"))
        }
    }

    @Test func `Of several functions with one name the arguments choose, and a refusal names the candidates`()
        async throws
    {
        try await withBed { bed in
            #expect(try await bed.send(.post, "/rest/v1/rpc/pick", ["a": 1, "b": 2]).json == "two")
            let ambiguous = try await bed.send(.post, "/rest/v1/rpc/pick", ["a": 1])
            #expect((ambiguous.status, ambiguous.code) == (300, "PGRST203"))
            #expect(
                ambiguous.json["message"]
                    == "Could not choose the best candidate function between: public.pick(a => integer), public.pick(a => text)"
            )
            let hints: [(HTTPMethod, String, JSON?, String, JSON)] = [
                (
                    .get, "sum2?aa=1", nil, "Searched for the function public.sum2 with parameter aa, but",
                    "Perhaps you meant to call the function public.sum2(a, b)"
                ),
                (
                    .post, "sumz", ["b": 1, "a": 2],
                    "Searched for the function public.sumz with parameters a, b or with a single unnamed json/jsonb parameter, but",
                    "Perhaps you meant to call the function public.sum2"
                ),
                (
                    .get, "unlike_all", nil, "Searched for the function public.unlike_all without parameters, but",
                    .null
                ),
            ]
            for (method, path, body, details, hint) in hints {
                let unknown = try await bed.send(method, "/rest/v1/rpc/\(path)", body)
                #expect((unknown.status, unknown.code) == (404, "PGRST202"), "\(path)")
                #expect(unknown.json["details"]?.string?.hasPrefix(details) == true, "\(unknown.text)")
                #expect(unknown.json["hint"] == hint, "\(unknown.text)")
            }
            let text = try await bed.send(
                .post, "/rest/v1/rpc/sum2", bytes: [120], ["Content-Type": "application/octet-stream"])
            #expect(text.json["hint"] == .null)
            #expect(
                text.json["details"]?.string?.hasPrefix(
                    "Searched for the function public.sum2 with a single unnamed bytea parameter") == true)
        }
    }
}

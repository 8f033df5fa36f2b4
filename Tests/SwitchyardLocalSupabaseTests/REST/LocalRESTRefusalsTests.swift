import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// Where a hosted project's data service refuses, or says more than one might think, the local one does the same.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct LocalRESTRefusalsTests {
    private static let tables = """
        create table if not exists public.goods (id int primary key, name text, secret text);
        insert into public.goods values (1, 'one', 'x'), (2, '50% off', 'y'), (3, 'three', 'z') on conflict do nothing;
        grant select, insert, update, delete on public.goods to authenticated;
        create or replace function public.goods_all() returns setof public.goods language sql as 'select * from public.goods';
        create or replace function public.one_out(out answer int) language sql as 'select 42';
        create or replace function public.a_good() returns public.goods language sql as 'select * from public.goods where id = 1';
        create or replace function public.joined(variadic words text[]) returns text language sql as 'select array_to_string(words, ''-'')';
        create or replace function public.says() returns void language plpgsql as $$ begin
          raise sqlstate 'PGRST' using message = '{"code":"X1","message":"no","details":"d","hint":"h"}',
            detail = '{"status":402,"headers":{"X-Reason":"money"}}'; end $$
        """

    private func withBed(_ body: (SupabaseBed) async throws -> Void) async throws {
        try await SupabaseBed.with({ $0.scripts = [Self.tables] }, body)
    }

    private func ask(
        _ bed: SupabaseBed, _ method: HTTPMethod, _ path: String, _ json: JSON? = nil, _ headers: HTTPHeaders = [:]
    ) async throws -> SupabaseBed.Answer {
        try await bed.send(method, "/rest/v1" + path, json, as: bed.supabase.accessToken(for: "ann"), headers)
    }

    @Test func `A percent sign that is not coded drops no condition`() async throws {
        try await withBed { bed in
            let found = try await ask(bed, .get, "/goods?select=id&name=eq.50%%20off")
            #expect(found.json == [["id": 2]])
            let none = try await ask(bed, .get, "/goods?select=id&name=eq.50%&id=eq.1")
            #expect(none.json == [])
            let deleted = try await ask(bed, .delete, "/goods?name=eq.100%", nil, ["Prefer": "return=representation"])
            #expect(deleted.json == [])
            #expect(try await bed.value("select count(*) from public.goods") == "3")
        }
    }

    @Test func `Functions are asked for columns, counted, and held to how much may be affected`() async throws {
        try await withBed { bed in
            let some = try await ask(bed, .post, "/rpc/goods_all?select=id&order=id", [:], ["Prefer": "count=exact"])
            #expect(some.json == [["id": 1], ["id": 2], ["id": 3]])
            #expect(some.headers["Content-Range"] == "0-2/3")
            let one = try await ask(bed, .post, "/rpc/a_good?select=name", [:])
            #expect(one.json == ["name": "one"])
            #expect(try await ask(bed, .post, "/rpc/one_out", [:]).json == ["answer": 42])
            #expect(try await ask(bed, .post, "/rpc/joined", ["words": ["a", "b"]]).json == "a-b")
            #expect(try await ask(bed, .get, "/rpc/joined?words=a&words=b").json == "a-b")
            let many = try await ask(
                bed, .post, "/rpc/goods_all", [:], ["Prefer": "handling=strict, max-affected=2"])
            #expect((many.status, many.code) == (400, "PGRST124"))
            let group = try await ask(bed, .get, "/rpc/goods_all?or=(id.eq.1,id.eq.3)&select=id&order=id")
            #expect(group.json == [["id": 1], ["id": 3]])
        }
    }

    @Test func `A function words its own refusal`() async throws {
        try await withBed { bed in
            let said = try await ask(bed, .post, "/rpc/says", [:])
            #expect((said.status, said.code, said.headers["X-Reason"]) == (402, "X1", "money"))
            #expect(said.headers["Proxy-Status"] == "PostgREST; error=X1")
        }
    }

    @Test func `A column that may not be read stands in the way only of those who ask for it`() async throws {
        try await withBed { bed in
            try await bed.run(
                "revoke all on public.goods from authenticated",
                "grant select (id, name), insert on public.goods to authenticated")
            let new: JSON = ["id": 9, "name": "nine"]
            let whole: HTTPHeaders = ["Prefer": "return=representation"]
            #expect(try await ask(bed, .post, "/goods?select=id", new, whole).json == [["id": 9]])
            let all = try await ask(bed, .post, "/goods", ["id": 10, "name": "ten"], whole)
            #expect((all.status, all.code) == (403, "42501"))
            #expect(try await ask(bed, .get, "/goods?select=name&id=eq.9").json == [["name": "nine"]])
            #expect(try await ask(bed, .get, "/goods?id=eq.9").code == "42501")
        }
    }

    @Test func `The time limit of a role is enforced`() async throws {
        try await withBed { bed in
            try await bed.run(
                "create or replace function public.slow() returns void language sql as 'select pg_sleep(20)'",
                "alter role authenticated in database \(try await bed.database()) set statement_timeout = '100ms'")
            let slow = try await ask(bed, .post, "/rpc/slow", [:])
            #expect((slow.status, slow.code) == (500, "57014"))
        }
    }

    @Test func `Tokens whose times are wrong are refused`() async throws {
        try await withBed { bed in
            let now: Int64 = 1_800_000_000
            func status(_ name: String, _ value: JSON) async throws -> (Int, String?) {
                var claims: JSONObject = ["role": "authenticated", "sub": "ann", "exp": .integer(now + 60)]
                claims[name] = value
                let text = SupabaseToken(claims: claims).text(secret: bed.supabase.context.access.secret)
                let answer = try await bed.send(.get, "/rest/v1/goods?select=id", as: text)
                return (answer.status, answer.code)
            }
            let wrong: [(String, JSON)] = [
                ("nbf", .integer(now + 60)), ("iat", .integer(now + 60)), ("exp", "1900000000"),
                ("exp", 1_900_000_000.5), ("aud", 5), ("exp", .integer(Int64.min)),
            ]
            for (name, value) in wrong {
                let answer = try await status(name, value)
                #expect(answer == (401, "PGRST303"), "\(name) \(value)")
            }
            let fine = try await status("nbf", .integer(now + 20))
            #expect(fine == (200, nil))
        }
    }

    @Test func `Rows come as lines between commas, and are taken so`() async throws {
        try await withBed { bed in
            let read = try await bed.text("/rest/v1/goods?select=id,name&order=id", accept: "text/csv")
            #expect(read == "id,name\n1,one\n2,\"50% off\"\n3,three")
            #expect(
                RESTTableText.rows("a,b\n1,\"x, \"\"y\"\"\"\r\n2,") == [["a", "b"], ["1", "x, \"y\""], ["2", ""]])
        }
    }
}

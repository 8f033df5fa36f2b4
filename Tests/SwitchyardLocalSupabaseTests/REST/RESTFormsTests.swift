import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// The forms in which results come.
struct RESTMediaTypeTests {
    @Test func `The most wanted type comes first, and quotation marks hold a parameter together`() {
        let types = RESTMediaType.accepted("text/plain;q=0.5, application/json ; q=0.9,TEXT/csv")
        #expect(types.map(\.name) == ["text/csv", "application/json", "text/plain"])
        #expect(RESTMediaType.accepted(nil).map(\.name) == ["*/*"])
        let plan = RESTMediaType("application/vnd.pgrst.plan+json; for=\"text/xml;a,b\"; options=wal|analyze|x").plan
        #expect(plan?.type.name == "text/xml")
        #expect(plan?.prefix == "explain (format json, analyze, wal) ")
    }

    @Test(
        arguments: [
            ("*/*", "application/json; charset=utf-8"),
            ("application/vnd.pgrst.array+json", "application/json; charset=utf-8"),
            (
                "application/vnd.pgrst.object;nulls=stripped",
                "application/vnd.pgrst.object+json;nulls=stripped; charset=utf-8"
            ),
            ("image/png, text/csv", "text/csv; charset=utf-8"), ("text/html", "text/html"), ("application/*", nil),
            ("application/vnd.pgrst.plan", nil), ("text/plain", nil),
        ] as [(String, String?)])
    func `The first form that there is, is the answer's`(_ accepted: String, _ type: String?) throws {
        let page = try #require(RESTMediaHandler(["text/html", "public", "page", false, "text"]))
        let form = try? RESTForm(
            RESTMediaType.accepted(accepted), handlers: [page], isEverything: true, allowsPlans: false)
        #expect(form?.contentType == type)
    }

    @Test func `What makes documents of whole rows does not count where columns are selected`() throws {
        let rows = try #require(RESTMediaHandler(["text/plain", "public", "agg", false, "text"]))
        let all = try #require(RESTMediaHandler(["text/plain", "public", "any_agg", true, "text"]))
        let accepted = RESTMediaType.accepted("text/plain")
        let own = try RESTForm(accepted, handlers: [all, rows], isEverything: true, allowsPlans: false)
        let shared = try RESTForm(accepted, handlers: [all, rows], isEverything: false, allowsPlans: false)
        #expect(own.content(.rows).hasPrefix(#""public"."agg"("#))
        #expect(shared.content(.rows).hasPrefix(#""public"."any_agg"("#))
    }
}

/// What the database's own functions make of results, on a real PostgreSQL.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RESTFormsTests {
    private static let documents = """
        create domain public."text/html" as text; create domain public."image/png" as bytea; create domain public."*/*" as bytea;
        create domain public."text/plain" as text;
        create table public.goods (id int primary key, name text, isNew boolean);
        insert into public.goods values (1, 'a, "b"', true), (2, null, false);
        create function public.page() returns public."text/html" language sql stable as $$ select '<p>' $$;
        create function public.picture() returns public."image/png" language sql stable as $$ select '\\x89504e47'::bytea $$;
        create function public.any_type() returns public."*/*" language sql stable as $$
          select set_config('response.headers', '[{"Content-Type": "text/x-own"}]', true);
          select 'raw'::bytea::public."*/*" $$;
        create function public.goods_step(text, public.goods) returns text language sql immutable as $$ select $1 || $2.id || ';' $$;
        create function public.goods_end(text) returns public."text/plain" language sql immutable as $$ select $1 $$;
        create aggregate public.goods_lines(public.goods) (initcond = '', stype = text, sfunc = goods_step, finalfunc = goods_end);
        """

    @Test func `Documents of a domain's type come as such, text and bytes`() async throws {
        try await SupabaseBed.with({ $0.scripts = [Self.documents] }) { bed in
            let cases: [(String, String, Int, String, String)] = [
                ("rpc/page", "text/html", 200, "text/html", "<p>"),
                ("rpc/page", "application/json", 200, "application/json; charset=utf-8", #""<p>""#),
                ("rpc/any_type", "application/json", 200, "text/x-own", "raw"),
                ("goods?order=id", "text/plain", 200, "text/plain; charset=utf-8", "1;2;"),
                (
                    "goods?order=id", "text/csv", 200, "text/csv; charset=utf-8",
                    "id,name,isnew\n1,\"a, \"\"b\"\"\",t\n2,,f"
                ),
            ]
            for (path, accept, status, type, text) in cases {
                let answer = try await bed.send(.get, "/rest/v1/\(path)", nil, ["Accept": .init(accept)])
                #expect((answer.status, answer.headers["Content-Type"], answer.text) == (status, type, text), "\(path)")
            }
            let picture = try await bed.send(.get, "/rest/v1/rpc/picture", nil, ["Accept": "image/png"])
            #expect(picture.headers["Content-Length"] == "4" && picture.headers["Content-Type"] == "image/png")
            let selected = try await bed.send(.get, "/rest/v1/goods?select=id", nil, ["Accept": "text/plain"])
            #expect((selected.status, selected.code) == (406, "PGRST107"))
        }
    }

    @Test func `Plans are shown where the project allows it`() async throws {
        try await SupabaseBed.with({ $0.scripts = ["create table public.goods (id int primary key)"] }) { bed in
            let json: HTTPHeaders = ["Accept": "application/vnd.pgrst.plan+json"]
            #expect(try await bed.send(.get, "/rest/v1/goods", nil, json).code == "PGRST107")
            try await bed.run(
                "alter role authenticator in database \(try await bed.database()) set pgrst.db_plan_enabled = 'true'")
            let plan = try await bed.send(.get, "/rest/v1/goods", nil, json)
            #expect(plan.json[0]?["Plan"]?["Node Type"] == "Aggregate")
            #expect(
                plan.headers["Content-Type"]
                    == "application/vnd.pgrst.plan+json; for=\"application/json\"; charset=utf-8")
            let text = try await bed.send(
                .post, "/rest/v1/goods", ["id": 1], ["Accept": "application/vnd.pgrst.plan+text; options=verbose"])
            #expect(text.text.hasPrefix("Aggregate"))
            #expect(try await bed.value("select count(*) from public.goods") == "0")
        }
    }

    @Test func `Values of domains have the form that their casts give them`() async throws {
        let paints = """
            create domain public.color as int;
            create function public.color_json(public.color) returns json language sql immutable as
              $$ select to_json('#' || lpad(to_hex($1::int), 6, '0')) $$;
            create function public.color_text(text) returns public.color language sql immutable as
              $$ select ('x' || lpad(substr($1, 2), 8, '0'))::bit(32)::int $$;
            create function public.color_of(json) returns public.color language sql immutable as $$ select public.color_text($1 #>> '{}') $$;
            create cast (public.color as json) with function public.color_json(public.color) as implicit;
            create cast (text as public.color) with function public.color_text(text) as implicit;
            create cast (json as public.color) with function public.color_of(json) as implicit;
            create table public.paints (id int primary key, shade public.color, name text);
            insert into public.paints values (1, 255, 'blue'), (2, 65280, 'green');
            create table public.cans (id int primary key, paint int references public.paints);
            insert into public.cans values (7, 1);
            """
        try await SupabaseBed.with({ $0.scripts = [paints] }) { bed in
            let rows: HTTPHeaders = ["Prefer": "return=representation"]
            let cases: [(HTTPMethod, String, JSON?, JSON)] = [
                (.get, "paints?id=eq.1", nil, [["id": 1, "shade": "#0000ff", "name": "blue"]]),
                (.get, "paints?shade=eq.%2300ff00&select=id", nil, [["id": 2]]),
                (.get, "paints?shade=in.(%2300ff00,%230000ff)&select=id&order=id", nil, [["id": 1], ["id": 2]]),
                (.post, "paints?select=id,hex:shade", ["id": 3, "shade": "#00000f"], [["id": 3, "hex": "#00000f"]]),
                (.patch, "paints?id=eq.3&select=shade", ["shade": "#000010"], [["shade": "#000010"]]),
                (.patch, "paints?id=eq.3&select=shade", ["shade": .null], [["shade": .null]]),
                (
                    .get, "cans?select=paints(*)&paints.shade=eq.%230000ff", nil,
                    [["paints": ["id": 1, "name": "blue", "shade": "#0000ff"]]]
                ),
                (.get, "paints?select=cans(...paints(hex:shade))&id=eq.1", nil, [["cans": [["hex": "#0000ff"]]]]),
            ]
            for (method, path, body, expected) in cases {
                let answer = try await bed.send(method, "/rest/v1/\(path)", body, rows)
                #expect(answer.json == expected, "\(method) \(path): \(answer.text)")
            }
            #expect(try await bed.value("select shade from public.paints where id = 1") == "255")
        }
    }
}

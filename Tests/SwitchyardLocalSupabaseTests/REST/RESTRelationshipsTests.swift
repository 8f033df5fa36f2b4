import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// What relates tables: foreign keys, views of their columns, joining tables, and functions.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RESTRelationshipsTests {
    @Test func `Views have the relationships of the columns that they show`() async throws {
        try await RelatedTables.with { bed in
            let cases: [(String, JSON)] = [
                ("open_todos?select=nr,lists(name)&nr=eq.2", [["nr": 2, "lists": ["name": "Home"]]]),
                ("lists?select=open_todos(nr)&id=eq.1", [["open_todos": [["nr": 2]]]]),
                ("open_again?select=nr,lists(name)&nr=eq.2", [["nr": 2, "lists": ["name": "Home"]]]),
                ("open_todos?select=nr,labels(id)&nr=eq.3", [["nr": 3, "labels": [["id": 1]]]]),
            ]
            for (query, expected) in cases {
                let found = try await RelatedTables.get(bed, query)
                #expect(found == expected, "\(query)")
            }
        }
    }

    @Test func `A function of a row is a relationship, and a column if it returns a value`() async throws {
        try await RelatedTables.with { bed in
            let found = try await RelatedTables.get(bed, "lists?select=first_todo(id,lists(shout))&order=id")
            #expect(
                found == [
                    ["first_todo": ["id": 1, "lists": ["shout": "HOME"]]],
                    ["first_todo": ["id": 3, "lists": ["shout": "WORK"]]],
                    ["first_todo": .null],
                ])
            let rows = try await RelatedTables.get(
                bed, "rpc/todos_of?nr=1&select=id,lists(name)&lists.name=eq.Home&order=id&limit=1")
            #expect(rows == [["id": 1, "lists": ["name": "Home"]]])
            let filtered = try await bed.send(
                .post, "/rest/v1/rpc/todos_of?select=id,labels!inner(id)&labels.id=eq.2", ["nr": 1])
            #expect(filtered.json == [["id": 1, "labels": [["id": 2]]]])
            let one = try await bed.send(.post, "/rest/v1/rpc/one_todo?select=id,lists(name)", ["nr": 3])
            #expect(one.json == ["id": 3, "lists": ["name": "Work"]])
        }
    }

    @Test func `What is not related, or not unmistakably, is refused with a suggestion`() async throws {
        try await RelatedTables.with { bed in
            let cases: [(String, Int, String)] = [
                ("todos?select=list_labels(id)", 400, "PGRST200"), ("users?select=labels(id)", 400, "PGRST200"),
                ("todos?select=users(name)", 300, "PGRST201"), ("todos?select=lists!nope(id)", 400, "PGRST200"),
                ("todos?lists.name=eq.x", 400, "PGRST108"),
                ("todos?select=lists(name)&list.order=name", 400, "PGRST108"),
                ("todos?order=lists(name)", 400, "PGRST108"),
                ("lists?select=todos(id)&order=todos(id)", 400, "PGRST118"),
                ("todos?select=lists(nope)", 400, "42703"), ("todos?select=lists(name)&lists.nope=eq.1", 400, "42703"),
                ("lists?select=todos(id.sum())", 400, "PGRST123"), ("todos?select=count()", 400, "PGRST123"),
                ("todos?select=id,lists(name", 400, "PGRST100"), ("todos?select=id,(name)", 400, "PGRST100"),
                ("todos?select=lists(name)x", 400, "PGRST100"), ("todos?select=...lists", 400, "PGRST100"),
                ("lists?select=todos(id)&todos.limit=-1", 416, "PGRST103"),
                (
                    "todos?select=\(String(repeating: "todos(", count: 60))id\(String(repeating: ")", count: 60))", 400,
                    "PGRST100"
                ),
            ]
            for (query, status, code) in cases {
                let refused = try await bed.send(.get, "/rest/v1/" + query)
                #expect((refused.status, refused.code) == (status, code), "\(query): \(refused.json.text())")
            }
            let unrelated = try await bed.send(.get, "/rest/v1/todos?select=id,labls!x(id)").json
            #expect(
                unrelated == [
                    "code": "PGRST200",
                    "details":
                        .string(
                            "Searched for a foreign key relationship between 'todos' and 'labls' using the hint 'x' "
                                + "in the schema 'public', but no matches were found."),
                    "hint": "Perhaps you meant 'labels' instead of 'labls'.",
                    "message": "Could not find a relationship between 'todos' and 'labls' in the schema cache",
                ])
            let ambiguous = try await bed.send(.get, "/rest/v1/todos?select=users(name)").json
            #expect(
                ambiguous["details"] == [
                    [
                        "cardinality": "many-to-one", "embedding": "todos with users",
                        "relationship": "todos_done_by_fkey using todos(done_by) and users(id)",
                    ],
                    [
                        "cardinality": "many-to-one", "embedding": "todos with users",
                        "relationship": "todos_made_by_fkey using todos(made_by) and users(id)",
                    ],
                ])
            #expect(
                ambiguous["hint"]
                    == .string(
                        "Try changing 'users' to one of the following: 'users!todos_done_by_fkey', "
                            + "'users!todos_made_by_fkey'. Find the desired relationship in the 'details' key.")
            )
            let known = try await bed.send(.get, "/rest/v1/todos?select=labels!x(id)").json
            #expect(known["hint"] == .null)
            let absent = try await bed.send(.get, "/rest/v1/todos?lists.name=eq.x").json
            #expect(absent["hint"] == "Verify that 'lists' is included in the 'select' query parameter.")
            let patched = try await bed.send(.patch, "/rest/v1/lists?select=id,todos()&todos=is.null", ["name": "x"])
            #expect((patched.status, patched.code) == (400, "42703"))
        }
    }

    @Test func `Names as long as the database has them are told apart`() async throws {
        try await RelatedTables.with { bed in
            let (long, join) = (String(repeating: "n", count: 63), String(repeating: "j", count: 62))
            try await bed.run(
                "create table public.\(long) (id int primary key, up int references public.\(long), list int references public.lists)",
                "create table public.\(join) (a int references public.\(long), b int references public.lists, primary key (a, b))",
                "insert into public.\(long) values (1, null, 1), (2, 1, 2)", "insert into public.\(join) values (2, 3)")
            let found = try await RelatedTables.get(
                bed, "\(long)?select=id,\(long)(id),up(id),list(id),l:lists!\(join)(id)&order=id")
            #expect(found[0]?[long] == [["id": 2]])
            #expect(found[1]?[long] == [])
            #expect(found[0]?["up"] == .null)
            #expect(found[1]?["up"] == ["id": 1])
            #expect(found[1]?["list"] == ["id": 2])
            #expect(found[1]?["l"] == [["id": 3]])
        }
    }

    @Test func `A migration changes at once what is related`() async throws {
        try await RelatedTables.with { bed in
            func status(_ query: String) async throws -> String {
                let answer = try await bed.send(.get, "/rest/v1/\(query)")
                return answer.code ?? "\(answer.status)"
            }
            let query = "todos?select=id,users(name)&id=eq.1"
            #expect(try await status(query) == "PGRST201")
            try await bed.run("alter table public.todos drop constraint todos_done_by_fkey")
            #expect(try await status(query) == "200")
            try await bed.run("alter table public.users rename to members")
            #expect(try await status(query) == "PGRST200")
            #expect(try await status("todos?select=id,members(name)") == "200")
            try await bed.run("alter table public.members rename name to title")
            #expect(try await status("todos?select=id,members(name)") == "42703")
            #expect(try await status("todos?select=id,members(title)") == "200")
            #expect(try await status("members?select=latest(id)") == "PGRST200")
            try await bed.run(
                """
                create function public.latest(public.members) returns setof public.todos rows 1 language sql stable
                  as 'select * from public.todos where made_by = $1.id order by id desc limit 1'
                """)
            #expect(
                try await RelatedTables.get(bed, "members?select=latest(id)&order=id") == [
                    ["latest": ["id": 2]], ["latest": ["id": 3]],
                ])
            try await bed.run("drop function public.latest(public.members)")
            #expect(try await status("members?select=latest(id)") == "PGRST200")
        }
    }

    @Test func `A partition is reached through its table only`() async throws {
        try await RelatedTables.with { bed in
            try await bed.run(
                "create table public.logs (day date primary key, list int references public.lists) partition by range (day)",
                "create table public.logs_2026 partition of public.logs for values from ('2026-01-01') to ('2027-01-01')",
                "insert into public.logs values ('2026-05-01', 1)")
            let found = try await RelatedTables.get(bed, "lists?select=logs(day)&id=eq.1")
            #expect(found == [["logs": [["day": "2026-05-01"]]]])
            #expect(
                try await RelatedTables.get(bed, "logs?select=day,lists(name)") == [
                    ["day": "2026-05-01", "lists": ["name": "Home"]]
                ])
            #expect(try await bed.send(.get, "/rest/v1/logs_2026").code == "PGRST205")
            // The database keeps versions in the partitions, which an insert into the table does not return.
            #expect(try await bed.send(.get, "/rest/v1/logs?select=xmin").status == 200)
            let added = try await bed.send(
                .post, "/rest/v1/logs?select=xmin", ["day": "2026-05-02"], ["Prefer": "return=representation"])
            #expect((added.status, added.code) == (400, "0A000"))
        }
    }

    @Test func `A table within another under names that need quotes is found`() async throws {
        try await RelatedTables.with { bed in
            try await bed.run(
                #"create table public."Täler (a.b)" (id int primary key, "Größe, m" int)"#,
                #"create table public."x""y" (id int primary key, "the{ref}" int references public."Täler (a.b)")"#,
                #"create view public."v{}" as select id, "the{ref}" as "ref, (1)" from public."x""y""#,
                #"insert into public."Täler (a.b)" values (1, 5)"#, #"insert into public."x""y" values (1, 1)"#)
            let quoted = PercentCoding.encode(#""Täler (a.b)"("Größe, m")"#)
            for table in ["x\"y", "v{}"] {
                let found = try await RelatedTables.get(bed, "\(PercentCoding.encode(table))?select=id,\(quoted)")
                #expect(found == [["id": 1, "Täler (a.b)": ["Größe, m": 5]]], "\(table)")
            }
        }
    }
}

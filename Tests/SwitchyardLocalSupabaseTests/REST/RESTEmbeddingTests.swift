import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// Related rows within rows.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RESTEmbeddingTests {
    static let tables = """
        create table if not exists public.users (id int primary key, name text);
        create table if not exists public.lists (id int primary key, name text, owner int references public.users);
        create table if not exists public.todos (
          id int primary key, title text, list int references public.lists, parent int references public.todos,
          made_by int references public.users, done_by int references public.users);
        create table if not exists public.labels (id int primary key, text text);
        create table if not exists public.todo_labels (
          todo int references public.todos, label int references public.labels, primary key (todo, label));
        create table if not exists public.details (todo int primary key references public.todos, note text, data jsonb);
        create or replace view public.open_todos as select id as nr, title, list as list_nr from public.todos where done_by is null;
        create or replace view public.open_again as select nr, list_nr as "list (nr)" from public.open_todos;
        create or replace function public.first_todo(public.lists) returns setof public.todos rows 1 language sql stable
          as 'select * from public.todos where list = $1.id order by id limit 1';
        create or replace function public.shorter(public.lists, int) returns text language sql stable as 'select left($1.name, $2)';
        create or replace function public.shout(public.lists) returns text language sql stable as 'select upper($1.name)';
        create or replace function public.todos_of(nr int) returns setof public.todos language sql stable
          as 'select * from public.todos where list = nr';
        create or replace function public.one_todo(nr int) returns public.todos language sql stable
          as 'select * from public.todos where id = nr';
        truncate public.users cascade; truncate public.labels cascade;
        insert into public.users values (1, 'Ann'), (2, 'Bob');
        insert into public.lists values (1, 'Home', 1), (2, 'Work', 2), (3, 'Empty', null);
        insert into public.todos values (1, 'cook', 1, null, 1, 2), (2, 'eat', 1, 1, 1, null), (3, 'write', 2, null, 2, null),
          (4, 'think', null, 3, null, null);
        insert into public.labels values (1, 'red'), (2, 'blue');
        insert into public.todo_labels values (1, 1), (1, 2), (3, 1);
        insert into public.details values (1, 'hot', '{"k": 1}'), (3, null, '{"k": 2}');
        """

    private func withBed(_ body: (SupabaseBed) async throws -> Void) async throws {
        try await SupabaseBed.with({ $0.scripts = [Self.tables] }, body)
    }

    private func get(_ bed: SupabaseBed, _ query: String, _ headers: HTTPHeaders = [:]) async throws -> JSON {
        let answer = try await bed.send(.get, "/rest/v1/" + query, nil, headers)
        #expect(answer.status < 300, "\(query): \(answer.json.text())")
        return answer.json
    }

    @Test func `Rows bring those that they refer to, and those that refer to them`() async throws {
        try await withBed { bed in
            let cases: [(String, JSON)] = [
                (
                    "todos?select=id,lists(name)&id=in.(1,4)&order=id",
                    [["id": 1, "lists": ["name": "Home"]], ["id": 4, "lists": .null]]
                ),
                (
                    "lists?select=name,todos(id)&id=in.(1,3)&order=id&todos.order=id",
                    [["name": "Home", "todos": [["id": 1], ["id": 2]]], ["name": "Empty", "todos": []]]
                ),
                (
                    "todos?select=labels(text)&id=eq.1&labels.order=id",
                    [["labels": [["text": "red"], ["text": "blue"]]]]
                ),
                ("labels?select=text,todos(title)&id=eq.2", [["text": "blue", "todos": [["title": "cook"]]]]),
                (
                    "todos?select=details(note)&id=in.(1,2)&order=id",
                    [["details": ["note": "hot"]], ["details": .null]]
                ),
                ("details?select=todos(title)&todo=eq.1", [["todos": ["title": "cook"]]]),
                ("todos?select=id,list:lists(name)&id=eq.1", [["id": 1, "list": ["name": "Home"]]]),
                (
                    "todos?select=maker:users!todos_made_by_fkey(name),doer:users!done_by(name)&id=eq.1",
                    [["maker": ["name": "Ann"], "doer": ["name": "Bob"]]]
                ),
                (
                    "todos?select=made_by(name),todos_done_by_fkey(name)&id=eq.1",
                    [["made_by": ["name": "Ann"], "todos_done_by_fkey": ["name": "Bob"]]]
                ),
                ("todos?select=labels!todo_labels(id)&id=eq.3", [["labels": [["id": 1]]]]),
                (
                    "todos?select=id,parts:todos(id),whole:parent(id)&id=in.(1,2)&order=id",
                    [["id": 1, "parts": [["id": 2]], "whole": .null], ["id": 2, "parts": [], "whole": ["id": 1]]]
                ),
                (
                    "users?select=name,lists(name,todos(title,labels(text)))&id=eq.2",
                    [
                        [
                            "name": "Bob",
                            "lists": [["name": "Work", "todos": [["title": "write", "labels": [["text": "red"]]]]]],
                        ]
                    ]
                ),
                ("todos?select=lists(*)&id=eq.1", [["lists": ["id": 1, "name": "Home", "owner": 1]]]),
                ("todos?select=lists(n:name,owner::text)&id=eq.1", [["lists": ["n": "Home", "owner": "1"]]]),
                ("details?select=todo,todos(lists())&todo=eq.1", [["todo": 1]]),
                (
                    "lists?select=id,todos(count)&order=id",
                    [
                        ["id": 1, "todos": [["count": 2]]], ["id": 2, "todos": [["count": 1]]],
                        ["id": 3, "todos": [["count": 0]]],
                    ]
                ),
                ("todos?select=count", [["count": 4]]),
                ("todos?select=id%20,%20title&id=eq.1", [["id": 1, "title": "cook"]]),
            ]
            for (query, expected) in cases {
                let found = try await get(bed, query)
                #expect(found == expected, "\(query)")
            }
            let found = try await get(bed, "todos?select=lists(xmin)&id=eq.1")
            let version = try await bed.value("select xmin from public.lists where id = 1")
            #expect(found[0]?["lists"]?["xmin"]?.string == version)
        }
    }

    @Test func `Columns of related rows become those of the row`() async throws {
        try await withBed { bed in
            let cases: [(String, JSON)] = [
                ("todos?select=id,...lists(list:name)&order=id&limit=1", [["id": 1, "list": "Home"]]),
                (
                    "todos?select=title,...lists(name,...users(owner_name:name))&id=in.(1,4)&order=id",
                    [
                        ["title": "cook", "name": "Home", "owner_name": "Ann"],
                        ["title": "think", "name": .null, "owner_name": .null],
                    ]
                ),
                (
                    "details?select=note,...todos(*)&todo=eq.3",
                    [
                        [
                            "note": .null, "id": 3, "title": "write", "list": 2, "parent": .null, "made_by": 2,
                            "done_by": .null,
                        ]
                    ]
                ),
                (
                    "lists?select=id,...todos(titles:title)&todos.order=id.desc&order=id",
                    [["id": 1, "titles": ["eat", "cook"]], ["id": 2, "titles": ["write"]], ["id": 3, "titles": []]]
                ),
                ("lists?select=...todos(id,labels(text))&id=eq.2", [["id": [3], "labels": [[["text": "red"]]]]]),
            ]
            for (query, expected) in cases {
                let found = try await get(bed, query)
                #expect(found == expected, "\(query)")
            }
        }
    }

    @Test func `Conditions, order and range of related rows are their own`() async throws {
        try await withBed { bed in
            let cases: [(String, JSON)] = [
                (
                    "lists?select=id,todos(id)&todos.id=gt.1&order=id",
                    [["id": 1, "todos": [["id": 2]]], ["id": 2, "todos": [["id": 3]]], ["id": 3, "todos": []]]
                ),
                ("lists?select=id,todos!inner(id)&todos.id=gt.2", [["id": 2, "todos": [["id": 3]]]]),
                ("todos?select=id,lists!inner(name)&lists.name=eq.Work", [["id": 3, "lists": ["name": "Work"]]]),
                (
                    "todos?select=id,lists!left(name)&lists.name=eq.Work&id=lt.4&order=id.desc&limit=2",
                    [["id": 3, "lists": ["name": "Work"]], ["id": 2, "lists": .null]]
                ),
                ("lists?select=todos(id)&id=eq.1&todos.order=title.desc&todos.limit=1", [["todos": [["id": 2]]]]),
                (
                    "lists?select=todos(id)&id=eq.1&todos.order=id&todos.limit=1&todos.offset=1",
                    [["todos": [["id": 2]]]]
                ),
                ("lists?select=todos(id)&id=eq.1&todos.or=(id.eq.2,title.eq.nothing)", [["todos": [["id": 2]]]]),
                ("lists?select=todos(id)&id=eq.1&todos.and=(id.gt.1,id.lt.3)", [["todos": [["id": 2]]]]),
                ("lists?select=todos(id)&id=eq.1&todos.not.or=(id.eq.2,id.eq.7)", [["todos": [["id": 1]]]]),
                ("lists?select=t:todos(id)&id=eq.1&t.id=eq.1", [["t": [["id": 1]]]]),
                ("lists?select=t:todos(id)&id=eq.1&todos.id=eq.1", [["t": [["id": 1]]]]),
                ("users?select=lists(todos(id))&id=eq.1&lists.todos.id=eq.2", [["lists": [["todos": [["id": 2]]]]]]),
                (
                    "users?select=lists(todos(id))&id=eq.1&lists.todos.order=id.desc&lists.todos.limit=1",
                    [["lists": [["todos": [["id": 2]]]]]]
                ),
                ("todos?select=labels(text)&id=eq.1&labels.text=eq.blue", [["labels": [["text": "blue"]]]]),
                ("lists?select=id,todos()&todos=is.null", [["id": 3]]),
                ("lists?select=id,todos()&todos=not.is.null&order=id", [["id": 1], ["id": 2]]),
                ("todos?select=id,details()&details=not.is.null&order=id", [["id": 1], ["id": 3]]),
                ("todos?select=id,d:details()&d=is.null&order=id", [["id": 2], ["id": 4]]),
                (
                    "todos?select=id,details(),labels()&or=(details.is.null,labels.is.null)&order=id",
                    [["id": 2], ["id": 4]]
                ),
                (
                    "lists?select=id,todos(details())&todos.details=not.is.null&todos=not.is.null&order=id",
                    [["id": 1], ["id": 2]]
                ),
                (
                    "todos?select=id,lists(name)&order=lists(name).desc,id.desc&id=lt.4",
                    [
                        ["id": 3, "lists": ["name": "Work"]], ["id": 2, "lists": ["name": "Home"]],
                        ["id": 1, "lists": ["name": "Home"]],
                    ]
                ),
                ("todos?select=id,details()&order=details(data->k).desc&details=not.is.null", [["id": 3], ["id": 1]]),
                ("todos?select=list&list=is.null", [["list": .null]]),
            ]
            for (query, expected) in cases {
                let found = try await get(bed, query.replacing(">", with: "%3E"))
                #expect(found == expected, "\(query)")
            }
            let counted = try await bed.send(
                .get, "/rest/v1/lists?select=id,todos!inner(id)&todos.id=gt.2", nil, ["Prefer": "count=exact"])
            #expect(counted.headers["Content-Range"] == "0-0/1")
            let planned = try await bed.send(
                .get, "/rest/v1/lists?select=id,todos()&todos=is.null", nil, ["Prefer": "count=planned"])
            #expect(planned.headers["Content-Range"]?.hasPrefix("0-0/") == true)
        }
    }

    @Test func `The cap on rows is one on related rows too`() async throws {
        try await SupabaseBed.with({
            $0.scripts = [Self.tables]
            $0.maximumRows = 1
        }) { bed in
            let found = try await get(bed, "lists?select=todos(id)&todos.order=id")
            #expect(found == [["todos": [["id": 1]]]])
        }
    }

    @Test func `Views have the relationships of the columns that they show`() async throws {
        try await withBed { bed in
            let cases: [(String, JSON)] = [
                ("open_todos?select=nr,lists(name)&nr=eq.2", [["nr": 2, "lists": ["name": "Home"]]]),
                ("lists?select=open_todos(nr)&id=eq.1", [["open_todos": [["nr": 2]]]]),
                ("open_again?select=nr,lists(name)&nr=eq.2", [["nr": 2, "lists": ["name": "Home"]]]),
                ("open_todos?select=nr,labels(id)&nr=eq.3", [["nr": 3, "labels": [["id": 1]]]]),
            ]
            for (query, expected) in cases {
                let found = try await get(bed, query)
                #expect(found == expected, "\(query)")
            }
        }
    }

    @Test func `A function of a row is a relationship, and a column if it returns a value`() async throws {
        try await withBed { bed in
            let found = try await get(bed, "lists?select=first_todo(id,lists(shout))&order=id")
            #expect(
                found == [
                    ["first_todo": ["id": 1, "lists": ["shout": "HOME"]]],
                    ["first_todo": ["id": 3, "lists": ["shout": "WORK"]]],
                    ["first_todo": .null],
                ])
            let rows = try await get(bed, "rpc/todos_of?nr=1&select=id,lists(name)&lists.name=eq.Home&order=id&limit=1")
            #expect(rows == [["id": 1, "lists": ["name": "Home"]]])
            let filtered = try await bed.send(
                .post, "/rest/v1/rpc/todos_of?select=id,labels!inner(id)&labels.id=eq.2", ["nr": 1])
            #expect(filtered.json == [["id": 1, "labels": [["id": 2]]]])
            let one = try await bed.send(.post, "/rest/v1/rpc/one_todo?select=id,lists(name)", ["nr": 3])
            #expect(one.json == ["id": 3, "lists": ["name": "Work"]])
        }
    }

    @Test func `Written rows come back with related ones`() async throws {
        try await withBed { bed in
            let whole: HTTPHeaders = ["Prefer": "return=representation"]
            let added = try await bed.send(
                .post, "/rest/v1/todos?select=title,lists(name)", ["id": 9, "title": "new", "list": 2], whole)
            #expect((added.status, added.json) == (201, [["title": "new", "lists": ["name": "Work"]]]))
            let moved = try await bed.send(
                .patch, "/rest/v1/todos?id=eq.9&select=id,xmin,lists(name,first_todo(id))", ["list": 1], whole)
            #expect(moved.json[0]?["lists"] == ["name": "Home", "first_todo": ["id": 1]])
            let sifted = try await bed.send(
                .patch, "/rest/v1/lists?id=lt.3&select=id,todos(id)&todos.id=eq.1&order=id", ["owner": 1], whole)
            #expect(sifted.json == [["id": 1, "todos": [["id": 1]]], ["id": 2, "todos": []]])
            let computed = try await bed.send(
                .patch, "/rest/v1/lists?id=eq.2&select=id,first_todo(id)", ["owner": 2], whole)
            #expect(computed.json == [["id": 2, "first_todo": ["id": 3]]])
            let removed = try await bed.send(.delete, "/rest/v1/todos?id=eq.9&select=...lists(name)", nil, whole)
            #expect(removed.json == [["name": "Home"]])
        }
    }

    @Test func `Related rows are only those that the caller may see`() async throws {
        try await withBed { bed in
            try await bed.run(
                "alter table public.lists enable row level security",
                "create policy own on public.lists for select to anon using (name <> 'Work')")
            let found = try await get(bed, "todos?select=id,lists(name)&id=in.(1,3)&order=id")
            #expect(found == [["id": 1, "lists": ["name": "Home"]], ["id": 3, "lists": .null]])
            #expect(try await get(bed, "users?select=lists(id)&id=eq.2") == [["lists": []]])
            try await bed.run("revoke select on public.lists from anon")
            let closed = try await bed.send(.get, "/rest/v1/todos?select=id,lists(name)")
            #expect((closed.status, closed.code) == (401, "42501"))
        }
    }

    @Test func `What is not related, or not unmistakably, is refused with a suggestion`() async throws {
        try await withBed { bed in
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
        try await withBed { bed in
            let (long, join) = (String(repeating: "n", count: 63), String(repeating: "j", count: 62))
            try await bed.run(
                "create table public.\(long) (id int primary key, up int references public.\(long), list int references public.lists)",
                "create table public.\(join) (a int references public.\(long), b int references public.lists, primary key (a, b))",
                "insert into public.\(long) values (1, null, 1), (2, 1, 2)", "insert into public.\(join) values (2, 3)")
            let found = try await get(bed, "\(long)?select=id,\(long)(id),up(id),list(id),l:lists!\(join)(id)&order=id")
            #expect(found[0]?[long] == [["id": 2]])
            #expect(found[1]?[long] == [])
            #expect(found[0]?["up"] == .null)
            #expect(found[1]?["up"] == ["id": 1])
            #expect(found[1]?["list"] == ["id": 2])
            #expect(found[1]?["l"] == [["id": 3]])
        }
    }

    @Test func `A migration changes at once what is related`() async throws {
        try await withBed { bed in
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
                try await get(bed, "members?select=latest(id)&order=id") == [
                    ["latest": ["id": 2]], ["latest": ["id": 3]],
                ])
            try await bed.run("drop function public.latest(public.members)")
            #expect(try await status("members?select=latest(id)") == "PGRST200")
        }
    }

    @Test func `A partition is reached through its table only`() async throws {
        try await withBed { bed in
            try await bed.run(
                "create table public.logs (day date primary key, list int references public.lists) partition by range (day)",
                "create table public.logs_2026 partition of public.logs for values from ('2026-01-01') to ('2027-01-01')",
                "insert into public.logs values ('2026-05-01', 1)")
            let found = try await get(bed, "lists?select=logs(day)&id=eq.1")
            #expect(found == [["logs": [["day": "2026-05-01"]]]])
            #expect(
                try await get(bed, "logs?select=day,lists(name)") == [["day": "2026-05-01", "lists": ["name": "Home"]]])
            #expect(try await bed.send(.get, "/rest/v1/logs_2026").code == "PGRST205")
            // The database keeps versions in the partitions, which an insert into the table does not return.
            #expect(try await bed.send(.get, "/rest/v1/logs?select=xmin").status == 200)
            let added = try await bed.send(
                .post, "/rest/v1/logs?select=xmin", ["day": "2026-05-02"], ["Prefer": "return=representation"])
            #expect((added.status, added.code) == (400, "0A000"))
        }
    }

    @Test func `A table within another under names that need quotes is found`() async throws {
        try await withBed { bed in
            try await bed.run(
                #"create table public."Täler (a.b)" (id int primary key, "Größe, m" int)"#,
                #"create table public."x""y" (id int primary key, "the{ref}" int references public."Täler (a.b)")"#,
                #"create view public."v{}" as select id, "the{ref}" as "ref, (1)" from public."x""y""#,
                #"insert into public."Täler (a.b)" values (1, 5)"#, #"insert into public."x""y" values (1, 1)"#)
            let quoted = PercentCoding.encode(#""Täler (a.b)"("Größe, m")"#)
            for table in ["x\"y", "v{}"] {
                let found = try await get(bed, "\(PercentCoding.encode(table))?select=id,\(quoted)")
                #expect(found == [["id": 1, "Täler (a.b)": ["Größe, m": 5]]], "\(table)")
            }
        }
    }
}

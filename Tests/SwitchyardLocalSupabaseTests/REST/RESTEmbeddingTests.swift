import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// Related rows within rows.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RESTEmbeddingTests {
    @Test func `Rows bring those that they refer to, and those that refer to them`() async throws {
        try await RelatedTables.with { bed in
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
                let found = try await RelatedTables.get(bed, query)
                #expect(found == expected, "\(query)")
            }
            let found = try await RelatedTables.get(bed, "todos?select=lists(xmin)&id=eq.1")
            let version = try await bed.value("select xmin from public.lists where id = 1")
            #expect(found[0]?["lists"]?["xmin"]?.string == version)
        }
    }

    @Test func `Columns of related rows become those of the row`() async throws {
        try await RelatedTables.with { bed in
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
                let found = try await RelatedTables.get(bed, query)
                #expect(found == expected, "\(query)")
            }
        }
    }

    @Test func `Conditions, order and range of related rows are their own`() async throws {
        try await RelatedTables.with { bed in
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
                let found = try await RelatedTables.get(bed, query.replacing(">", with: "%3E"))
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
            $0.scripts = [RelatedTables.sql]
            $0.maximumRows = 1
        }) { bed in
            let found = try await RelatedTables.get(bed, "lists?select=todos(id)&todos.order=id")
            #expect(found == [["todos": [["id": 1]]]])
        }
    }

    @Test func `Written rows come back with related ones`() async throws {
        try await RelatedTables.with { bed in
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
        try await RelatedTables.with { bed in
            try await bed.run(
                "alter table public.lists enable row level security",
                "create policy own on public.lists for select to anon using (name <> 'Work')")
            let found = try await RelatedTables.get(bed, "todos?select=id,lists(name)&id=in.(1,3)&order=id")
            #expect(found == [["id": 1, "lists": ["name": "Home"]], ["id": 3, "lists": .null]])
            #expect(try await RelatedTables.get(bed, "users?select=lists(id)&id=eq.2") == [["lists": []]])
            try await bed.run("revoke select on public.lists from anon")
            let closed = try await bed.send(.get, "/rest/v1/todos?select=id,lists(name)")
            #expect((closed.status, closed.code) == (401, "42501"))
        }
    }
}

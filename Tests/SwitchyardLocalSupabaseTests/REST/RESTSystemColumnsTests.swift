import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// The version of a row, which the database itself keeps, as a column for clients.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RESTSystemColumnsTests {
    private func withTodos(_ body: (SupabaseBed) async throws -> Void) async throws {
        try await SupabaseBed.with({ $0.scripts = [Self.tables] }, body)
    }

    private static let tables = """
        create table if not exists public.todos (id int primary key, title text not null, n int not null default 0);
        create or replace view public.todos_view as select * from public.todos;
        insert into public.todos (id, title) values (1, 'one'), (2, 'two') on conflict do nothing;
        """

    private let rows: HTTPHeaders = ["Prefer": "return=representation"]

    private func version(_ bed: SupabaseBed, _ id: Int) async throws -> String {
        try #require(try await bed.value("select xmin from public.todos where id = \(id)"))
    }

    @Test func `A row is read with its version, place and table`() async throws {
        try await withTodos { bed in
            let (version, table) = (
                JSON.string(try await version(bed, 1)), try await bed.value("select 'public.todos'::regclass::oid")
            )
            let some = try await bed.send(.get, "/rest/v1/todos?select=id,xmin&id=eq.1")
            #expect(some.json == [["id": 1, "xmin": version]])
            let all = try await bed.send(.get, "/rest/v1/todos?select=*,xmin&id=eq.1")
            #expect(all.json == [["id": 1, "title": "one", "n": 0, "xmin": version]])
            let cast = try await bed.send(.get, "/rest/v1/todos?select=v:xmin::text,ctid&id=eq.1")
            #expect(cast.json == [["v": version, "ctid": "(0,1)"]])
            let origin = try await bed.send(.get, "/rest/v1/todos?select=tableoid&id=eq.1")
            #expect(origin.json[0]?["tableoid"]?.string == table)
            // They are no part of all columns.
            #expect(try await bed.send(.get, "/rest/v1/todos?id=eq.2").json == [["id": 2, "title": "two", "n": 0]])
        }
    }

    @Test func `Rows are found by their version, which has no order`() async throws {
        try await withTodos { bed in
            let version = try await version(bed, 1)
            for condition in ["xmin=eq.\(version)", "xmin=in.(\(version),3)", "or=(xmin.eq.\(version),id.eq.9)"] {
                let found = try await bed.send(.get, "/rest/v1/todos?select=id&order=id&\(condition)")
                #expect(found.json == [["id": 1], ["id": 2]], "\(condition)")
            }
            let greater = try await bed.send(.get, "/rest/v1/todos?xmin=gt.5")
            #expect((greater.status, greater.code) == (404, "42883"))
        }
    }

    @Test func `Writes return the new version if it is named`() async throws {
        try await withTodos { bed in
            let base = try await version(bed, 1)
            let path = "/rest/v1/todos?id=eq.1&xmin=eq.\(base)&select=id,xmin,title"
            let changed = try await bed.send(.patch, path, ["title": "uno"], rows)
            let next = try await version(bed, 1)
            #expect((changed.status, changed.json) == (200, [["id": 1, "xmin": .string(next), "title": "uno"]]))
            #expect(next != base)
            let late = try await bed.send(.patch, path, ["title": "late"], rows)
            #expect((late.status, late.json) == (200, []))
            let counted = try await bed.send(
                .patch, "/rest/v1/todos?id=eq.1&xmin=eq.\(base)", ["title": "late"], ["Prefer": "count=exact"])
            #expect((counted.status, counted.headers["Content-Range"]) == (204, "*/0"))
            #expect(try await bed.send(.delete, path, nil, rows).json == [])

            let added = try await bed.send(
                .post, "/rest/v1/todos?select=id,xmin", [["id": 3, "title": "c"], ["id": 4, "title": "d"]], rows)
            let version = JSON.string(try await version(bed, 3))
            #expect(added.json == [["id": 3, "xmin": version], ["id": 4, "xmin": version]])
            let merged = try await bed.send(
                .post, "/rest/v1/todos?on_conflict=id&select=xmin", ["id": 3, "title": "C"],
                ["Prefer": "return=representation,resolution=merge-duplicates"])
            #expect(merged.json == [["xmin": .string(try await self.version(bed, 3))]])
            let removed = try await bed.send(.delete, "/rest/v1/todos?id=eq.4&select=id,xmin", nil, rows)
            #expect(removed.json == [["id": 4, "xmin": version]])
            #expect(try await bed.send(.patch, "/rest/v1/todos?id=eq.1&select=id,xmin", [:], rows).json == [])
        }
    }

    @Test func `Where there is no version, the refusal names the column`() async throws {
        try await withTodos { bed in
            for (method, path) in [
                (HTTPMethod.post, "/todos?select=*,xmin"), (.patch, "/todos?id=eq.1&select=*,xmin"),
                (.get, "/todos_view?select=id,xmin"), (.get, "/todos_view?xmin=eq.1"),
            ] {
                let body: JSON? = method == .get ? nil : ["id": 1, "title": "x"]
                let refused = try await bed.send(
                    method, "/rest/v1" + path, body,
                    ["Prefer": "return=representation,resolution=merge-duplicates"])
                #expect((refused.status, refused.code) == (400, "42703"), "\(method) \(path)")
            }
            let view = try await bed.send(.get, "/rest/v1/todos_view?select=xmin")
            #expect(view.json["message"] == "column todos_view.xmin does not exist")
            let set = try await bed.send(.patch, "/rest/v1/todos?id=eq.1", ["xmin": "5"])
            #expect((set.status, set.code) == (400, "PGRST204"))
        }
    }

    @Test func `Increments by many tasks that compare the version are all counted`() async throws {
        let tasks = RunSize.full(16, part: 8)
        try await withTodos { bed in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<tasks {
                    group.addTask {
                        var left = 20
                        while left > 0 {
                            let read = try await bed.send(.get, "/rest/v1/todos?select=n,xmin&id=eq.1")
                            let n = try #require(read.json[0]?["n"]?.int)
                            let version = try #require(read.json[0]?["xmin"]?.string)
                            let written = try await bed.send(
                                .patch, "/rest/v1/todos?id=eq.1&xmin=eq.\(version)&select=id,xmin",
                                ["n": .integer(Int64(n + 1))], rows)
                            #expect(written.status == 200)
                            left -= written.json.array?.count ?? 0
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await bed.value("select n from public.todos where id = 1") == "\(tasks * 20)")
        }
    }
}

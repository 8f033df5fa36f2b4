import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// What one caller sends spoils nothing for anybody else.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct DocumentDefenceTests {
    private func withDatabase(domain: Bool = false, _ body: (PostgresServer) async throws -> Void) async throws {
        let server = try await PostgresServer()
        defer { server.stop() }
        try await server.query(DocumentSchema.installation(domain: domain))
        try await body(server)
    }

    private static let malformed = [
        #"{"$vec": 1}"#, #"{"$vec": ["a"]}"#, #"{"$bytes": "%%%"}"#, #"{"$bytes": 1}"#, #"{"$bytes": "A==="}"#,
        #"{"$map": 5}"#,
        #"{"$num": "abc"}"#, #"{"$num": 5}"#, #"{"$ts": "soon"}"#, #"{"$ts": null}"#, #"{"$geo": [1]}"#,
        #"{"$geo": ["a", "b"]}"#,
        #"{"$ref": ["a"]}"#, #"{"$ref": [null, null]}"#, #"{"$ref": {}}"#, #"{"$zz": 1}"#, #"{"$": {}}"#,
    ]

    @Test func `A malformed value is not written, wherever it stands, and a map of that form is`() async throws {
        try await withDatabase { server in
            let ann = try await SQLCaller("ann", on: server)
            defer { ann.close() }
            for value in Self.malformed {
                for data in [
                    #"{"a": \#(value)}"#, #"{"a": {"b": [1, \#(value)]}}"#, #"{"a": {"$map": {"$ts": \#(value)}}}"#,
                ] {
                    let write = #"[{"op": "set", "path": "notes/a", "data": \#(data)}]"#
                    let code = await ann.failure(
                        "select public.switchyard_commit(gen_random_uuid()::text, $1::jsonb)", write)
                    #expect(code == "22023", "\(data)")
                }
                for data in [#"{"a": {"$map": \#(value)}, "b": {"$x": 1, "y": 2}}"#, value] {
                    try await ann.commit(#"{"op": "set", "path": "notes/a", "data": \#(data)}"#)
                }
                let patch = #"[{"op": "patch", "path": "notes/a", "data": {"b": \#(value)}, "mask": [["b"]]}]"#
                #expect(
                    await ann.failure("select public.switchyard_commit(gen_random_uuid()::text, $1::jsonb)", patch)
                        == "22023")
            }
            let union =
                #"[{"op": "patch", "path": "notes/a", "transforms": [{"field": ["c"], "op": "arrayUnion", "value": [{"$vec": 1}]}]}]"#
            #expect(await ann.failure("select public.switchyard_commit('b', $1::jsonb)", union) == "22023")
        }
    }

    @Test func `A malformed value that is there already spoils no one's query`() async throws {
        try await withDatabase { server in
            try await server.query("insert into switchyard.rules values ('board', 'public', 'public')")
            let ann = try await SQLCaller("ann", on: server)
            defer { ann.close() }
            for (index, value) in Self.malformed.enumerated() {
                try await server.query(
                    "insert into switchyard.documents (path, data, owner, created_at, updated_at) values (:'path', (:'data')::jsonb, 'ben', now(), now())",
                    ["path": "board/\(index)", "data": #"{"name": \#(value), "list": [\#(value)]}"#])
            }
            try await ann.commit(#"{"op": "set", "path": "board/zz", "data": {"name": "Ann", "list": [1]}}"#)
            func count(_ rest: String) async throws -> Int? {
                let query = try JSON(
                    parsing: Array(#"{"in": "board", "orders": [[["name"], "asc"], [null, "asc"]]\#(rest)}"#.utf8))
                let all = try await ann.call("switchyard_query", query)["documents"]?.array?.count
                let changes = try await ann.call("switchyard_changes", [["id": 1, "query": query]])
                #expect(changes["targets"]?[0]?["documents"]?.array?.count == all, "\(rest): \(changes.text())")
                let sums = try await ann.call(
                    "switchyard_aggregate", query, [["count"], ["sum", ["name"]], ["average", ["name"]]])
                #expect(sums[0]?.int64 == all.map(Int64.init))
                return all
            }
            #expect(try await count("") == Self.malformed.count + 1)
            #expect(try await count(#", "filter": ["==", ["name"], "Ann"]"#) == 1)
            #expect(try await count(#", "filter": ["!=", ["name"], "Ann"]"#) == Self.malformed.count)
            #expect(try await count(#", "filter": [">=", ["name"], "A"]"#) == 1)
            #expect(try await count(#", "filter": ["array-contains", ["list"], 1]"#) == 1)
            try await ann.commit(
                #"{"op": "patch", "path": "board/0", "transforms": [{"field": ["name"], "op": "increment", "value": 1}, {"field": ["list"], "op": "arrayUnion", "value": [2]}]}"#
            )
        }
    }

    @Test func `A sum that a double has no room for is infinite`() async throws {
        try await withDatabase { server in
            let ann = try await SQLCaller("ann", on: server)
            defer { ann.close() }
            for path in ["a", "b"] {
                try await ann.commit(
                    #"{"op": "set", "path": "notes/\#(path)", "data": {"n": 1.7e308, "m": -1.7e308, "s": 1e-300}}"#)
            }
            try await ann.commit(
                #"{"op": "patch", "path": "notes/a", "transforms": [{"field": ["x"], "op": "increment", "value": 1.7e308}, {"field": ["n"], "op": "increment", "value": 1.7e308}, {"field": ["m"], "op": "increment", "value": -1.7e308}]}"#
            )
            let data = try await ann.text(
                "select data -> 'n' || (data -> 'm') from switchyard.documents where path = 'notes/a'")
            #expect(data == #"{"$num": "-Infinity"}"#)
            try await ann.commit(
                #"{"op": "set", "path": "notes/a", "data": {"n": 1.7e308, "m": -1.7e308, "s": 1e-300}}"#)
            let sums = try await ann.call(
                "switchyard_aggregate", ["in": "notes", "orders": [[.null, "asc"]]],
                [["sum", ["n"]], ["average", ["n"]], ["sum", ["m"]], ["sum", ["s"]], ["average", ["none"]]])
            #expect(
                sums == [
                    ["$num": "Infinity"], ["$num": "Infinity"], ["$num": "-Infinity"], .number(2e-300), .null,
                ],
                "\(sums.text())")
        }
    }

    @Test func `Trees are deleted beside commits to them, and no one is ended as a deadlock`() async throws {
        try await withDatabase { server in
            let end = ContinuousClock.now + .seconds(RunSize.full(4, part: 1.5))
            let failures = try await withThrowingTaskGroup(of: [String].self) { group in
                for worker in 0..<6 {
                    group.addTask {
                        let ann = try await SQLCaller("ann", on: server)
                        defer { ann.close() }
                        var codes: [String] = []
                        var order = Array(0..<40)
                        while ContinuousClock.now < end {
                            order.shuffle()
                            let writes = order.map { #"{"op": "set", "path": "trees/t/leaves/l\#($0)", "data": {}}"# }
                            let code =
                                worker < 2
                                ? await ann.failure("select public.switchyard_delete_tree('trees/t')")
                                : await ann.failure(
                                    "select public.switchyard_commit(gen_random_uuid()::text, $1::jsonb)",
                                    "[\(writes.joined(separator: ","))]")
                            if let code { codes.append(code) }
                        }
                        return codes
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(failures == [])
            let ann = try await SQLCaller("ann", on: server)
            defer { ann.close() }
            while try await ann.text("select public.switchyard_delete_tree('trees/t')") != "0" {}
            #expect(try await server.query("select count(*) from switchyard.documents") == "0")
        }
    }

    @Test func `Many batches of five hundred at once find room for their locks`() async throws {
        try await withDatabase { server in
            let failures = try await withThrowingTaskGroup(of: String?.self) { group in
                for batch in 0..<RunSize.full(30, part: 10) {
                    group.addTask {
                        let ann = try await SQLCaller("ann", on: server)
                        defer { ann.close() }
                        let writes = (0..<500).map { #"{"op": "set", "path": "notes/b\#(batch)-\#($0)", "data": {}}"# }
                        return await ann.failure(
                            "select public.switchyard_commit(gen_random_uuid()::text, $1::jsonb)",
                            "[\(writes.joined(separator: ","))]")
                    }
                }
                return try await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
            }
            #expect(failures == [])
            // A lone batch holds a few hundred at most, however many paths it has.
            let ann = try await SQLCaller("ann", on: server)
            defer { ann.close() }
            let writes = (0..<500).map { #"{"op": "set", "path": "more/\#($0)", "data": {}}"# }
            let results = try await ann.connection.run([
                PostgresStatement(
                    "select public.switchyard_commit('locks', $1::jsonb)", ["[\(writes.joined(separator: ","))]"]),
                PostgresStatement(
                    "select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()"),
            ])
            let held = try #require(results.last?.rows.first?.first ?? nil)
            #expect(Int(String(decoding: held, as: UTF8.self)).map { $0 <= 257 } == true)
        }
    }

    @Test func `What twenty deletions a commit leave is forgotten as fast`() async throws {
        try await withDatabase { server in
            try await server.query("update switchyard.settings set keep = interval '0'")
            let ann = try await SQLCaller("ann", on: server)
            defer { ann.close() }
            let rounds = RunSize.full(150, part: 50)
            for _ in 0..<rounds {
                let paths = (0..<20).map { "notes/\($0)" }
                try await ann.commit(
                    paths.map { #"{"op": "set", "path": "\#($0)", "data": {}}"# }.joined(separator: ","))
                // Deletions under names that are not used again.
                let renamed = paths.map { _ in
                    #"{"op": "set", "path": "notes/x\#(UInt64.random(in: 0 ... .max))", "data": {}}"#
                }
                try await ann.commit(renamed.joined(separator: ","))
                _ = try await ann.text(
                    """
                    select public.switchyard_commit(gen_random_uuid()::text, (select jsonb_agg(jsonb_build_object('op', 'delete', 'path', d.path))
                      from switchyard.documents d where d.path like 'notes/x%'))
                    """)
            }
            let left = try #require(Int(try await server.query("select count(*) from switchyard.deletions")))
            #expect(left < rounds * 10, "\(rounds * 20) deletions were left, and \(left) are still stored")
        }
    }

    @Test func `An index over two fields has room for the longest texts and the longest paths`() async throws {
        try await withDatabase { server in
            try await server.query(
                """
                select switchyard.create_index(k, '[[["a"], "asc"], [["b"], "desc"]]', owned => o), switchyard.create_index(k, '[[["a"], "asc"]]', owned => o),
                       switchyard.create_index(k, '[[["a"], "asc"], [["b"], "desc"], [["c"], "desc"]]', g, o)
                  from (values (true, true), (false, false), (true, false), (false, true)) x (g, o), (values ('notes')) y (k);
                """)
            let ann = try await SQLCaller("ann", on: server)
            defer { ann.close() }
            // Text that does not get shorter by compression.
            func noise(_ count: Int) -> String {
                String(decoding: (0..<count).map { _ in UInt8.random(in: 97...122) }, as: UTF8.self)
            }
            let path = "notes/" + noise(894)
            let deep = (0..<9).map { _ in "\(noise(45))/\(noise(45))" }.joined(separator: "/") + "/notes/" + noise(60)
            for path in [path, deep] {
                try await ann.commit(
                    #"{"op": "set", "path": "\#(path)", "data": {"a": "\#(noise(3000))", "b": "\#(noise(3000))", "c": "\#(noise(3000))", "userID": "\#(noise(3000))"}}"#
                )
            }
            #expect(try await server.query("select count(*) from switchyard.documents") == "2")
            #expect(
                await ann.failure("select public.switchyard_commit(repeat('x', 501), '[]')") == "22023")
        }
    }

    @Test func `Deleting a tree does not reveal whether there is one`() async throws {
        try await withDatabase(domain: true) { server in
            try await server.query(
                "insert into switchyard.rules values ('profiles', 'public', 'named'), ('notes', 'public', 'owner')")
            let ann = try await SQLCaller("ann", on: server)
            let ben = try await SQLCaller("ben", on: server)
            let signedOut = try await SQLCaller(nil, on: server)
            defer { for caller in [ann, ben, signedOut] { caller.close() } }
            for path in ["users/ann", "users/ann/diary/1", "users/ann/contacts/x", "profiles/ann", "notes/1"] {
                try await ann.commit(#"{"op": "set", "path": "\#(path)", "data": {}}"#)
            }
            for path in [
                "users/ann", "users/zoe", "users/ann/diary/1", "users/zoe/diary/1", "users/ann/contacts/x",
                "users/zoe/contacts/x",
                "profiles/ann", "profiles/zoe",
            ] {
                for caller in [ben, signedOut] {
                    #expect(
                        await caller.failure("select public.switchyard_delete_tree($1)", path) == "42501", "\(path)")
                }
            }
            for path in ["notes/1", "notes/2"] {
                #expect(await signedOut.failure("select public.switchyard_delete_tree($1)", path) == "42501", "\(path)")
            }
            #expect(try await ann.text("select public.switchyard_delete_tree('users/ann')") == "3")
            #expect(try await ann.text("select public.switchyard_delete_tree('users/ann')") == "0")
        }
    }

    @Test(arguments: [false, true])
    func `No one is notified when something changes in another person's tree`(domain: Bool) async throws {
        try await withDatabase(domain: domain) { server in
            try await server.query(
                "insert into switchyard.rules values ('open', 'public', 'owner'), ('inbox', 'owner', 'owner')")
            let ann = try await SQLCaller("ann", on: server)
            let ben = try await SQLCaller("ben", on: server)
            let signedOut = try await SQLCaller(nil, on: server)
            defer { for caller in [ann, ben, signedOut] { caller.close() } }
            for (topic, listeners) in [
                ("documents:users/ann/contacts", "a"), ("documents:users/ann/diary", "a"),
                ("documents:users/ann/diary/1/pages", "a"),
                ("documents:users/ann/open", "abn"), ("documents:users/ann/inbox", "ab"), ("documents:users", "ab"),
                ("documents:users/ann/diary:open", "a"), ("documents:notes:open", "ab"), ("documents:*/diary", "ab"),
                ("documents:", ""),
            ] {
                for (caller, name) in [(ann, "a"), (ben, "b"), (signedOut, "n")] {
                    let answer = try await caller.text("select switchyard.may_listen($1)", topic)
                    #expect(answer == (listeners.contains(name) ? "t" : "f"), "\(topic) by \(name)")
                }
            }
        }
    }

    @Test func `Documents beside rows are one commit, and a refusal names the write by its place among all`()
        async throws
    {
        try await withDatabase(domain: true) { server in
            try await server.query(
                "create table public.items (id text primary key, n int); grant select, insert on public.items to authenticated"
            )
            let ann = try await SQLCaller("ann", on: server)
            defer { ann.close() }
            let table =
                #"{"schema": "public", "name": "items", "id": "id", "parents": [], "path": ["items/"], "fields": [["n", "n"]]}"#
            func writes(_ other: String) -> String {
                """
                [{"op": "set", "path": "users/ben/contactRequests/ann", "data": {"name": "Ann"}},
                 {"op": "set", "path": "items/\(other)", "table": \(table), "parents": [], "id": "\(other)", "data": {"n": 1}},
                 {"op": "set", "path": "users/ann/contacts/\(other)", "data": {"name": "Ben"}}]
                """
            }
            let commit = "select public.switchyard_commit_rows(gen_random_uuid()::text, $1::jsonb)"
            let answer = try JSON(parsing: Array((try await ann.text(commit, writes("ben")) ?? "").utf8))
            #expect(answer["results"]?.array?.count == 3)
            #expect(try await server.query("select count(*) from switchyard.documents") == "2")
            #expect(try await server.query("select n from public.items") == "1")
            // One that asks without having the other on their list, behind a row.
            try await ann.commit(#"{"op": "delete", "path": "users/ann/contacts/ben"}"#)
            let refused = try await refusal(
                of: ann, commit, #"[{"op": "verify", "path": "users/ann"}, \#(writes("zoe").dropFirst())"#)
            #expect(refused.code == "42501" && refused.details == "1", "\(refused)")
            #expect(try await server.query("select count(*) from public.items") == "1")
        }
    }

    private func refusal(of caller: SQLCaller, _ sql: String, _ parameter: String) async throws -> PostgresFailure {
        try #require(
            await #expect(throws: PostgresFailure.self) {
                _ = try await caller.connection.run([PostgresStatement(sql, [parameter])])
            })
    }
}

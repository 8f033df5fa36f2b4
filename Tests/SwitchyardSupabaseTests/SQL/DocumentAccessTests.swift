import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Who may read and write what, asked as an app would ask.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct DocumentAccessTests {
    /// Whose call it is.
    enum Caller: String, CaseIterable, Sendable { case owner, stranger, anonymous }

    private struct Bed: Sendable {
        let site: SupabaseSite
        let transport = CurlTransport()

        func call(_ function: String, _ arguments: JSONObject, as caller: Caller) async throws -> JSON {
            let key =
                switch caller {
                case .owner: site.supabase.accessToken(for: "ann")
                case .stranger: site.supabase.accessToken(for: "ben")
                case .anonymous: site.supabase.anonKey
                }
            return try await site.service(key: key, transport: transport).call(function, arguments, isIdempotent: false)
        }

        func commit(_ write: DocumentWrite, as caller: Caller, named name: String = RandomID.make()) async throws {
            _ = try await call(
                "switchyard_commit", ["batch": .string(name), "writes": [.object(write.postgres)]], as: caller)
        }
    }

    /// Four kinds of collections with one document each, all of the owner's.
    private func withBed(_ body: (Bed) async throws -> Void) async throws {
        let site = try await SupabaseSite()
        let bed = Bed(site: site)
        try await site.postgres.query(
            """
            insert into switchyard.rules values ('posts', 'public', 'owner'), ('wikis', 'authenticated', 'authenticated'),
              ('secrets', 'none', 'none');
            """)
        for name in ["notes", "posts", "wikis"] {
            try await bed.commit(try .set(StoragePath(validating: "\(name)/a"), ["x": 1]), as: .owner)
        }
        try await site.postgres.query(
            "insert into switchyard.documents (path, data, owner) values ('secrets/a', '{}', 'ann');")
        try await body(bed)
        await bed.transport.shutDown()
        await site.stop()
    }

    private static let readers: [String: Set<Caller>] = [
        "notes": [.owner], "posts": [.owner, .stranger, .anonymous], "wikis": [.owner, .stranger], "secrets": [],
    ]
    private static let writers: [String: Set<Caller>] = [
        "notes": [.owner], "posts": [.owner], "wikis": [.owner, .stranger], "secrets": [],
    ]

    @Test func `No way of reading shows what the rules hide`() async throws {
        try await withBed { (bed: Bed) async throws -> Void in
            for (name, readers) in Self.readers {
                let path = JSON.string("\(name)/a")
                let query = JSON.object([
                    "in": .string(name), "orders": [[.null, "asc"]],
                ])
                let group = JSON.object(["group": .string(name), "orders": [[.null, "asc"]]])
                for caller in Caller.allCases {
                    let count = readers.contains(caller) ? 1 : 0
                    let comment = Comment(rawValue: "\(name) by \(caller)")
                    let fetched = try await bed.call("switchyard_get", ["paths": [path]], as: caller)
                    #expect(fetched["documents"]?.array?.count == count, comment)
                    for query in [query, group] {
                        let found = try await bed.call("switchyard_query", ["query": query], as: caller)
                        #expect(found["documents"]?.array?.count == count, comment)
                        let counted = try await bed.call(
                            "switchyard_aggregate", ["query": query, "aggregations": [["count"]]], as: caller)
                        #expect(counted == [.integer(Int64(count))], comment)
                        let changes = try await bed.call(
                            "switchyard_changes", ["targets": [["id": 1, "query": query]]], as: caller)
                        #expect(changes["targets"]?[0]?["documents"]?.array?.count == count, comment)
                    }
                    let collections = try await bed.call("switchyard_collections", [:], as: caller)
                    #expect(collections.array?.contains(.string(name)) == (count == 1), comment)
                }
            }
        }
    }

    @Test func `No one writes what the rules protect, by no kind of write`() async throws {
        try await withBed { (bed: Bed) async throws -> Void in
            for (name, writers) in Self.writers {
                let path = try StoragePath(validating: "\(name)/a")
                for caller in Caller.allCases where !writers.contains(caller) {
                    for write in [
                        try DocumentWrite.set(path, ["x": 2]), try .merge(path, ["x": 2]), try .update(path, ["x": 2]),
                        .delete(path), try DocumentWrite.merge(path, ["x": .increment(1)]),
                    ] {
                        let failure = await #expect(throws: StorageError.self, "\(name) by \(caller)") {
                            try await bed.commit(write, as: caller)
                        }
                        #expect(failure?.code == (caller == .anonymous ? .unauthenticated : .unauthorized))
                    }
                    await #expect(throws: StorageError.self, "\(name) by \(caller)") {
                        _ = try await bed.call("switchyard_delete_tree", ["path": .string(path.rawValue)], as: caller)
                    }
                }
                let data = try await bed.site.postgres.query(
                    "select data from switchyard.documents where path = '\(path.rawValue)'")
                #expect(data == (name == "secrets" ? "{}" : #"{"x": 1}"#))
            }
        }
    }

    @Test func `A document is its maker's, whatever the write says, and no one makes one of somebody else's`()
        async throws
    {
        try await withBed { (bed: Bed) async throws -> Void in
            try await bed.commit(try .set("wikis/b", ["owner": "ann"]), as: .stranger)
            let owner = try await bed.site.postgres.query(
                "select owner from switchyard.documents where path = 'wikis/b'")
            #expect(owner == "ben")
            await #expect(throws: StorageError.self) { try await bed.commit(try .set("secrets/b", [:]), as: .owner) }
            await #expect(throws: StorageError.self) { try await bed.commit(try .set("notes/b", [:]), as: .anonymous) }
        }
    }

    @Test func `Another user's batches cannot be asked for or taken over`() async throws {
        try await withBed { (bed: Bed) async throws -> Void in
            try await bed.commit(try .set("notes/b", ["x": 1]), as: .owner, named: "mine")
            #expect(try await bed.call("switchyard_outcome", ["batch": "mine"], as: .stranger) == .null)
            #expect(try await bed.call("switchyard_outcome", ["batch": "mine"], as: .owner) != .null)
            try await bed.commit(try .set("notes/c", ["x": 1]), as: .stranger, named: "mine")
            let owner = try await bed.site.postgres.query(
                "select owner from switchyard.documents where path = 'notes/c'")
            #expect(owner == "ben")
        }
    }

    @Test func `Whoever goes around the functions meets the same rules`() async throws {
        try await withBed { (bed: Bed) async throws -> Void in
            func rows(_ sub: String, role: String) async throws -> String {
                try await bed.site.postgres.query(
                    """
                    select set_config('request.jwt.claims', '{"sub": "\(sub)"}', false) is null;
                    set role \(role);
                    select string_agg(path, ' ' order by path) from switchyard.documents;
                    """)
            }
            #expect(try await rows("ann", role: "authenticated").hasSuffix("notes/a posts/a wikis/a"))
            #expect(try await rows("ben", role: "authenticated").hasSuffix("posts/a wikis/a"))
            #expect(try await rows("", role: "anon").hasSuffix("posts/a"))
            for statement in [
                "insert into switchyard.documents (path, data) values ('x/y', '{}')",
                "update switchyard.documents set owner = 'ben'", "delete from switchyard.documents",
                "select * from switchyard.batches", "select * from switchyard.deletions", "select switchyard.forget()",
                "select switchyard.begin_epoch()",
                "update switchyard.rules set read = 'public'", "update switchyard.settings set schema = 9",
                "select switchyard.create_index('notes', '[[[\"x\"], \"asc\"]]')",
            ] {
                let failure = await #expect(throws: PostgresServer.Failure.self, "\(statement)") {
                    try await bed.site.postgres.query("set role authenticated; \(statement);")
                }
                #expect(failure?.description.contains("42501") == true, "\(statement)")
            }
        }
    }

    private func outcome(_ bed: Bed, _ write: DocumentWrite, as caller: Caller) async -> StorageError.Code? {
        do {
            try await bed.commit(write, as: caller)
            return nil
        } catch {
            return (error as? StorageError)?.code
        }
    }

    @Test func `What lies under a person's name is that person's, whoever comes first`() async throws {
        try await withBed { (bed: Bed) async throws -> Void in
            for path: StoragePath in ["users/ann", "users/ann/notes/n", "users/ann/lists/l/items/i"] {
                #expect(await outcome(bed, try .set(path, ["x": 1]), as: .stranger) == .unauthorized)
                #expect(await outcome(bed, try .set(path, ["x": 1]), as: .anonymous) == .unauthenticated)
                #expect(await outcome(bed, try .set(path, ["x": 1]), as: .owner) == nil)
                for (caller, count) in [(Caller.owner, 1), (.stranger, 0), (.anonymous, 0)] {
                    let found = try await bed.call("switchyard_get", ["paths": [.string(path.rawValue)]], as: caller)
                    #expect(found["documents"]?.array?.count == count, "\(path) by \(caller)")
                }
            }
            // Whoever made it: a server, or somebody before there was this rule.
            try await bed.site.postgres.query(
                "insert into switchyard.documents (path, data, owner) values ('users/ann/notes/s', '{}', null), ('users/ann/notes/b', '{}', 'ben');"
            )
            // The same where the profile itself is open to be read, by everybody who is signed in.
            for rule in ["", "insert into switchyard.rules values ('users', 'authenticated', 'named');"] {
                try await bed.site.postgres.query(rule)
                for (user, paths) in [("ann", "users/ann/notes/b users/ann/notes/s"), ("ben", "")] {
                    let seen = try await bed.site.postgres.query(
                        """
                        select set_config('request.jwt.claims', '{"sub": "\(user)"}', false) is null;
                        set role authenticated;
                        select string_agg(path, ' ' order by path) from switchyard.documents where path ~ '/notes/[sb]$';
                        """)
                    #expect(seen == "f" + (paths.isEmpty ? "" : "\n" + paths), "around the functions")
                }
            }
            try await bed.site.postgres.query("delete from switchyard.rules where collection_id = 'users';")
            // Elsewhere a name says nothing, and a row in the rules says otherwise.
            #expect(await outcome(bed, try .set("teams/t/users/ann", ["x": 1]), as: .stranger) == nil)
            try await bed.site.postgres.query(
                "insert into switchyard.rules values ('members', 'authenticated', 'named'), ('inbox', 'owner', 'owner');"
            )
            #expect(await outcome(bed, try .set("teams/t/members/ann", ["x": 1]), as: .stranger) == .unauthorized)
            #expect(await outcome(bed, try .set("teams/t/members/ann", ["x": 1]), as: .owner) == nil)
            #expect(await outcome(bed, try .set("users/ann/inbox/i", ["x": 1]), as: .stranger) == nil)
            try await bed.site.postgres.query("insert into switchyard.rules values ('users', 'owner', 'owner');")
            #expect(await outcome(bed, try .set("users/cleo", ["x": 1]), as: .stranger) == nil)
        }
    }

    @Test func `A tree is deleted as far as it is the caller's, however much of it is not`() async throws {
        try await withBed { (bed: Bed) async throws -> Void in
            for n in 0..<7 {
                try await bed.commit(try .set(StoragePath(validating: "notes/a/mine/m\(n)"), ["x": 1]), as: .owner)
                // Behind them in the order in which the tree is deleted from its end, and before.
                for name in ["alien", "zalien"] {
                    try await bed.commit(try .set(StoragePath(validating: "notes/a/\(name)/f\(n)"), [:]), as: .stranger)
                }
            }
            var counts: [Int64] = []
            while counts.last != 0, counts.count < 10 {
                let count = try await bed.call("switchyard_delete_tree", ["path": "notes/a", "most": 3], as: .owner)
                counts.append(try #require(count.int64))
            }
            #expect(counts == [3, 3, 2, 0])
            let left = try await bed.site.postgres.query(
                "select count(*), count(*) filter (where owner = 'ben') from switchyard.documents where path like 'notes/a%'"
            )
            #expect(left == "14|14")
            // The document itself is a refusal, and nothing below it goes.
            try await bed.commit(try .set("notes/theirs", ["x": 1]), as: .stranger)
            try await bed.commit(try .set("notes/theirs/mine/m", ["x": 1]), as: .owner)
            let refused = await #expect(throws: StorageError.self) {
                _ = try await bed.call("switchyard_delete_tree", ["path": "notes/theirs"], as: .owner)
            }
            #expect(refused?.code == .unauthorized)
            #expect(
                try await bed.call("switchyard_get", ["paths": ["notes/theirs/mine/m"]], as: .owner)["documents"]?
                    .array?.count == 1)
        }
    }

    @Test func `Who may receive hints is who could read something there`() async throws {
        try await withBed { (bed: Bed) async throws -> Void in
            for (topic, listeners): (String, Set<Caller>) in [
                ("documents:posts", [.owner, .stranger, .anonymous]),
                ("documents:*/posts", [.owner, .stranger, .anonymous]),
                ("documents:users/ann/posts", [.owner, .stranger, .anonymous]),
                ("documents:notes", [.owner, .stranger]),
                ("documents:*/wikis", [.owner, .stranger]), ("documents:secrets", []), ("room", []), ("", []),
            ] {
                for caller in Caller.allCases {
                    let claims =
                        switch caller {
                        case .owner: #"{"sub": "ann"}"#
                        case .stranger: #"{"sub": "ben"}"#
                        case .anonymous: "{}"
                        }
                    let answer = try await bed.site.postgres.query(
                        "begin; set local request.jwt.claims = '\(claims)'; select switchyard.may_listen(:'topic'); commit;",
                        ["topic": topic])
                    #expect(answer == (listeners.contains(caller) ? "t" : "f"), "\(topic) by \(caller)")
                }
            }
        }
    }

    private static let hostile = [
        "'", "''", "\"", "\\", "'; drop table switchyard.documents; --", "$$", "$1", "%s", "%I", "%L", "%1$L", "{}",
        "{\"a\"}",
        "a,b", "(", ")", "null", "*", "::text", "\u{202E}", "é", "e\u{301}", "🎭", "\n", "\t", "\u{1}", "__name__x",
        "E'\\x41'",
        "||", "/*", "--", ";", "\u{FEFF}", "{\"$ts\": 1}",
    ]

    @Test func `Hostile text is text, in names, values, conditions and paths`() async throws {
        try await withBed { (bed: Bed) async throws -> Void in
            let client = try bed.site.client(key: bed.site.supabase.accessToken(for: "ann"))
            let items: CollectionPath = "hostile"
            for (index, text) in Self.hostile.enumerated() {
                let field = try FieldPath(components: [text])
                let path = items.document(text.contains("/") || text.hasPrefix("__") ? "doc-\(index)" : text)
                let data = DocumentData([(text, .string(text)), ("list", .array([.string(text)]))])
                _ = try await client.setDocument(path, data).acknowledged()
                let comment = Comment(rawValue: "“\(text)”")
                let equal = try await client.documents(Query(in: items).where(field, .equal, text), from: .server)
                #expect(equal.documents.map(\.path) == [path], comment)
                #expect(equal.documents.first?.data == data, comment)
                let range = try await client.documents(
                    Query(in: items).where(field, .greaterThanOrEqual, text).ordered(by: field), from: .server)
                #expect(range.documents.map(\.path) == [path], comment)
                let contained = try await client.documents(
                    Query(in: items).where("list", .arrayContains, text), from: .server)
                #expect(contained.documents.map(\.path) == [path], comment)
                _ = try await client.deleteDocument(path).acknowledged()
            }
            await client.shutDown()
            #expect(try await bed.site.postgres.query("select count(*) from switchyard.documents") == "4")
        }
    }
}

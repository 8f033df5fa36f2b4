import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// What a mapping can and cannot express, on tables as projects have them.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct TableMappingTests {
    private static let sql = """
        create type public.mood as enum ('fine', 'bad');
        create table public.lists (id uuid primary key default gen_random_uuid(), title text not null);
        create table public.todos (
          id int8 primary key, list_id uuid not null, title text not null default 'untitled', price numeric(10, 2),
          small int2, share real, due timestamp, day date, mood public.mood, marks int4[], raw json,
          doubled int8 generated always as (small * 2) stored, owner text not null default switchyard.caller());
        alter table public.todos enable row level security;
        create policy own on public.todos to authenticated using (owner = switchyard.caller())
          with check (owner = switchyard.caller());
        grant all on public.lists, public.todos to authenticated;
        create schema private;
        create table private.things (id text primary key, x int);
        grant usage on schema private to authenticated;
        grant all on private.things to authenticated;
        """

    private static let todos = SupabaseTableMapping(
        collection: "lists/{list_id}/todos", table: "todos",
        fields: [
            "title": "title", "price": "price", "small": "small", "share": "share", "due": "due", "day": "day",
            "mood": "mood", "marks": "marks", "raw": "raw", "twice": "doubled",
        ])
    private static let lists = SupabaseTableMapping(collection: "lists", table: "lists", columns: ["title"])
    private static let things: SupabaseTableMapping = {
        var mapping = SupabaseTableMapping(collection: "things", table: "things", columns: ["x"])
        mapping.schema = "private"
        return mapping
    }()

    private static let list = "0b0e7a5e-5c1f-4d0e-9a59-0d8e3a2f1c11"

    private func withClient(
        _ body: (_ ann: SyncedStorageClient, _ ben: SyncedStorageClient, SupabaseSite) async throws -> Void
    ) async throws {
        let site = try await SupabaseSite()
        try await site.postgres.query(Self.sql)
        let tables = try TableMappings([Self.todos, Self.lists, Self.things])
        let clients = try ["ann", "ben"].map { user in
            SyncedStorageClient(
                driver: SupabaseDriver(
                    service: try site.service(key: site.supabase.accessToken(for: user)), tables: tables))
        }
        try await body(clients[0], clients[1], site)
        for client in clients { await client.shutDown() }
        await site.stop()
    }

    private func todo(_ id: String) -> StoragePath { StoragePath(unchecked: "lists/\(Self.list)/todos/\(id)") }

    @Test func `Columns of every type come back as what they are`() async throws {
        try await withClient { ann, _, site in
            let data: DocumentData = [
                "title": "x", "price": 12.5, "small": 7, "share": 0.5,
                "due": .timestamp(Timestamp(microseconds: 1_700_000_000_123_456)), "day": "2026-11-21", "mood": "fine",
                "marks": [1, 2], "raw": ["a": [1, 2.5, .null]],
            ]
            _ = try await ann.setDocument(todo("1"), data).acknowledged()
            let expected = DocumentData(data.map { ($0.name, $0.value) } + [("twice", 14)])
            #expect(try await ann.document(todo("1"), from: .server).data == expected)
            let row = try await site.postgres.query("select price, day, mood, marks, list_id from public.todos")
            #expect(row == "12.50|2026-11-21|fine|{1,2}|\(Self.list)")
        }
    }

    @Test func `What a column cannot hold is refused with the names of both, and nothing is written`() async throws {
        try await withClient { (ann: SyncedStorageClient, _, site) async throws -> Void in
            let cases: [(DocumentData, [String])] = [
                (["small": "x"], ["small", "smallint"]), (["small": 1.5], ["small"]), (["small": 70_000], ["small"]),
                (["mood": "angry"], ["mood"]), (["day": "never"], ["day"]), (["marks": ["a"]], ["marks"]),
                (["price": true], ["price", "numeric"]), (["due": "2026"], ["due"]), (["nothing": 1], ["nothing"]),
                (["title": .bytes(Data([1]))], ["title", "text"]),
            ]
            for (data, names) in cases {
                let failure = await #expect(throws: StorageError.self, "\(data)") {
                    _ = try await ann.setDocument(todo("1"), data).acknowledged()
                }
                #expect(failure?.code == .invalidArgument, "\(data): \(failure?.message ?? "")")
                for name in names { #expect(failure?.message.contains(name) == true, "\(failure?.message ?? "")") }
            }
            #expect(try await site.postgres.query("select count(*) from public.todos") == "0")
        }
    }

    @Test func `An absent field takes its column's default, and a null is one`() async throws {
        try await withClient { ann, _, _ in
            _ = try await ann.setDocument(todo("1"), ["small": 1]).acknowledged()
            #expect(
                try await ann.document(todo("1"), from: .server).data == ["title": "untitled", "small": 1, "twice": 2])
            _ = try await ann.setDocument(todo("1"), ["title": "x", "small": .null]).acknowledged()
            #expect(try await ann.document(todo("1"), from: .server).data == ["title": "x"])
        }
    }

    @Test func `A path that is no key is missing, and cannot be written`() async throws {
        try await withClient { (ann: SyncedStorageClient, _, _) async throws -> Void in
            for path: StoragePath in ["lists/no-uuid/todos/1", "lists/no-uuid"] {
                #expect(try await ann.document(path, from: .server).data == nil)
                let failure = await #expect(throws: StorageError.self) {
                    _ = try await ann.setDocument(path, ["title": "x"]).acknowledged()
                }
                #expect(failure?.code == .invalidArgument)
            }
            #expect(try await ann.documents(Query(in: "lists/no-uuid/todos"), from: .server).documents.isEmpty)
        }
    }

    @Test func `A key is not taken from one parent to another`() async throws {
        try await withClient { (ann: SyncedStorageClient, _, site) async throws -> Void in
            _ = try await ann.setDocument(todo("1"), ["title": "first"]).acknowledged()
            let other = StoragePath(unchecked: "lists/\(UUID().uuidString.lowercased())/todos/1")
            let failure = await #expect(throws: StorageError.self) {
                _ = try await ann.setDocument(other, ["title": "second"]).acknowledged()
            }
            #expect(failure?.code == .alreadyExists)
            #expect(try await site.postgres.query("select title, list_id from public.todos") == "first|\(Self.list)")
        }
    }

    @Test func `The table's policies decide, on every way to it`() async throws {
        try await withClient { (ann: SyncedStorageClient, ben: SyncedStorageClient, site) async throws -> Void in
            _ = try await ann.setDocument(todo("1"), ["title": "ann's"]).acknowledged()
            #expect(try await ben.document(todo("1"), from: .server).data == nil)
            let collection = todo("1").collection
            for query in [Query(in: collection), Query(group: "todos")] {
                #expect(try await ben.documents(query, from: .server).documents.isEmpty)
                #expect(try await ben.count(query) == 0)
                #expect(try await ann.count(query) == 1)
            }
            await #expect(throws: StorageError.self) {
                _ = try await ben.setDocument(todo("1"), ["title": "ben's"]).acknowledged()
            }
            await #expect(throws: StorageError.self) {
                _ = try await ben.updateDocument(todo("1"), ["title": "ben's"]).acknowledged()
            }
            _ = try await ben.deleteDocument(todo("1")).acknowledged()
            #expect(try await site.postgres.query("select title, owner from public.todos") == "ann's|ann")
        }
    }

    @Test func `What the set-up lacks refuses no write, which waits and says why`() async throws {
        try await withClient { (ann: SyncedStorageClient, _, site) async throws -> Void in
            // The data service does not expose the schema.
            await #expect(throws: StorageError.self) { _ = try await ann.document("things/a", from: .server) }
            _ = try await ann.setDocument("things/a", ["x": 1])
            let tried = try await ann.pendingWrites().first { $0.first?.lastError != nil }
            #expect(tried?.count == 1)
            #expect(try await ann.refusedWrites().first { _ in true }?.isEmpty == true)
        }
    }

    @Test func `Rows and documents are written together or not at all`() async throws {
        try await withClient { (ann: SyncedStorageClient, _, site) async throws -> Void in
            func batch(_ small: Int64) throws -> WriteBatch {
                WriteBatch([
                    try .set("notes/a", ["x": 1]), try .set(todo("1"), data: ["small": .integer(small)]),
                    try .merge("notes/a", ["x": .increment(1)]),
                ])
            }
            await #expect(throws: StorageError.self) { _ = try await ann.commit(batch(100_000)).acknowledged() }
            #expect(try await site.postgres.query("select count(*) from switchyard.documents") == "0")
            _ = try await ann.commit(batch(10)).acknowledged()
            #expect(try await ann.document("notes/a", from: .server).data == ["x": 2])
            #expect(
                try await ann.documents([todo("1"), "notes/b", "notes/a"], from: .server).map(\.exists) == [
                    true, false, true,
                ])
            // What a transaction has read is checked by its version, which every table has.
            try await ann.transaction { transaction in
                _ = try await transaction.document(todo("1"))
                try await transaction.set("notes/b", ["x": 1])
            }
            #expect(try await ann.document("notes/b", from: .server).data == ["x": 1])
            try await ann.transaction { transaction in
                let count = try await transaction.document("notes/a").data?["x"]?.integerValue ?? 0
                try await transaction.set(todo("1"), ["small": .value(.integer(count))])
            }
            #expect(try await ann.document(todo("1"), from: .server).data?["small"] == 2)
        }
    }

    @Test func `Rows have versions without a column for them`() async throws {
        try await withClient { (ann: SyncedStorageClient, _, site) async throws -> Void in
            #expect(ann.capabilities.versionPreconditions)
            _ = try await ann.setDocument(todo("1"), ["small": 1]).acknowledged()
            let time = try #require(try await ann.document(todo("1"), from: .server).updateTime)
            func write(_ small: Int64, at time: Timestamp) throws -> WriteBatch {
                WriteBatch([
                    try .update(todo("1"), ["small": .value(.integer(small))]).requiring(.updateTime(time))
                ])
            }
            _ = try await ann.commit(write(2, at: time)).acknowledged()
            for _ in 0..<2 {
                let failure = await #expect(throws: StorageError.self) {
                    _ = try await ann.commit(write(3, at: time)).acknowledged()
                }
                #expect(failure?.code == .failedPrecondition)
            }
            // Somebody else's write counts, too.
            let now = try #require(try await ann.document(todo("1"), from: .server).updateTime)
            try await site.postgres.query("update public.todos set small = 9")
            let failure = await #expect(throws: StorageError.self) {
                _ = try await ann.commit(write(3, at: now)).acknowledged()
            }
            #expect(failure?.code == .failedPrecondition)
            #expect(try await site.postgres.query("select small from public.todos") == "9")
        }
    }

    @Test(arguments: [
        "", "a/b", "{x}", "{x}/a", "a/{x}", "a/b/c", "a/{}/c", "a//c", "a/{x}/{y}",
    ])
    func `A mapping that cannot be is a mistake in the configuration`(_ collection: String) {
        let failure = #expect(throws: InfrastructureError.self) {
            _ = try TableMappings([SupabaseTableMapping(collection: collection, table: "t", columns: ["a"])])
        }
        #expect(failure?.code == .invalidConfiguration)
        #expect(failure?.message.contains("“t”") == true)
    }

    @Test func `A mapping is read from a configuration with what it leaves out`() throws {
        let text = #"{"collection": "lists/{list_id}/todos", "table": "todos", "fields": {"title": "title"}}"#
        let mapping = try JSONDecoder().decode(SupabaseTableMapping.self, from: Data(text.utf8))
        #expect(
            mapping == SupabaseTableMapping(collection: "lists/{list_id}/todos", table: "todos", columns: ["title"]))
        let back = try JSONDecoder().decode(SupabaseTableMapping.self, from: JSONEncoder().encode(Self.things))
        #expect(back == Self.things)
    }
}

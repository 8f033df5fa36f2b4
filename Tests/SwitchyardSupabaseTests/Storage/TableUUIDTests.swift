import Foundation
import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// Tables with UUIDs as keys and values, which Swift spells in upper case and the database in lower case.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct TableUUIDTests {
    struct List: Codable, Equatable, Sendable {
        @DocumentID var id: UUID
        var title: String
        var owner: UUID
        var members: [UUID] = []
    }

    struct Todo: Codable, Equatable, Sendable {
        @DocumentID var id: Int64
        var title: String
    }

    private static let sql = """
        create table public.lists (
          id uuid primary key, title text not null, owner uuid not null, members uuid[] not null default '{}',
          changed_at timestamptz not null);
        create table public.todos (
          list_id uuid not null references public.lists, id int8 not null, title text not null, primary key (list_id, id));
        grant all on public.lists, public.todos to authenticated;
        """

    private static let lists: SupabaseTableMapping = {
        var mapping = SupabaseTableMapping(collection: "lists", table: "lists", columns: ["title", "owner", "members"])
        mapping.uuidColumns = ["id", "owner", "members"]
        mapping.updatedColumn = "changed_at"
        return mapping
    }()
    private static let todos: SupabaseTableMapping = {
        var mapping = SupabaseTableMapping(collection: "lists/{list_id}/todos", table: "todos", columns: ["title"])
        mapping.uuidColumns = ["list_id"]
        return mapping
    }()

    private func withClient(_ body: (any StorageClient, SupabaseSite) async throws -> Void) async throws {
        let site = try await SupabaseSite()
        try await site.postgres.query(Self.sql)
        var configuration = SupabaseConfiguration(
            url: site.supabase.server.url, key: Secret(site.supabase.accessToken(for: "tester")),
            checkInterval: .milliseconds(25))
        configuration.tables = [Self.lists, Self.todos]
        let client = try await SupabaseModule(configuration).makeStorageClient(ModuleContext())
        try await body(client, site)
        await client.shutDown()
        await site.stop()
    }

    /// A UUID whose spellings differ.
    private func makeID() -> UUID {
        while true {
            let id = UUID()
            if id.uuidString != id.uuidString.lowercased() { return id }
        }
    }

    @Test func `A name in upper case is the row, for its handle, its stream, queries and transactions`() async throws {
        try await withClient { client, site in
            let lists = client.collection("lists", of: List.self)
            let (id, owner, member) = (makeID(), makeID(), makeID())
            let list = List(id: DocumentID(id), title: "one", owner: owner, members: [member])
            let receipt = try await lists.document(id).set(list)
            #expect(try await lists.document(id).get(from: .cache) == list)
            try await receipt.acknowledged()
            #expect(
                try await site.postgres.query("select id, owner, members from public.lists")
                    == [id, owner].map { $0.uuidString.lowercased() }.joined(separator: "|")
                    + "|{\(member.uuidString.lowercased())}")
            #expect(try await lists.document(id).get(from: .server) == list)
            for try await snapshot in lists.document(id).stream() where !snapshot.isFromCache {
                #expect(snapshot.value == list)
                break
            }
            try await lists.document(id).update(\.title, to: "two").acknowledged()
            #expect(try await lists.documents(from: .server).map(\.title) == ["two"])
            try await client.transaction { transaction in
                let path = StoragePath("lists", id.uuidString)
                let title = try await transaction.document(path)["title"]?.stringValue ?? ""
                try await transaction.update(path, ["title": .of(title + "+")])
            }
            #expect(try await lists.document(id).get(from: .server)?.title == "two+")
            // One document, not one for each spelling.
            #expect(try await lists.documents(from: .cache).count == 1)
            try await lists.document(id).delete().acknowledged()
            #expect(try await site.postgres.query("select count(*) from public.lists") == "0")
        }
    }

    @Test func `Conditions, cursors and names match in either spelling`() async throws {
        try await withClient { client, _ in
            let lists = client.collection("lists", of: List.self)
            let (owner, member) = (makeID(), makeID())
            var ids: [UUID] = []
            for number in 0..<3 {
                let id = makeID()
                ids.append(id)
                let list = List(
                    title: "\(number)", owner: number == 1 ? makeID() : owner, members: number == 2 ? [member] : [])
                try await lists.document(id).set(list).acknowledged()
            }
            for source in [ReadSource.server, .cache] {
                func titles(_ query: TypedQuery<List>) async throws -> [String] {
                    try await query.documents(from: source).map(\.title).sorted()
                }
                #expect(try await titles(lists.where(\.owner, .equal, owner)) == ["0", "2"])
                #expect(try await titles(lists.where(\.owner, .in, [owner])) == ["0", "2"])
                #expect(try await titles(lists.where(\.owner, .notEqual, owner)) == ["1"])
                #expect(try await titles(lists.where(\.members, .arrayContains, member)) == ["2"])
                #expect(try await titles(lists.where(\.id, .equal, ids[1])) == ["1"])
                #expect(try await titles(lists.where(\.id, .in, [ids[0], ids[2]])) == ["0", "2"])
                let cursor = lists.ordered(by: \.owner).starting(at: .string(owner.uuidString))
                #expect(try await titles(cursor).contains("0"))
            }
            #expect(try await lists.where(\.owner, .equal, owner).count() == 2)
            let group = client.collectionGroup("lists").where("owner", .equal, .string(owner.uuidString))
            #expect(try await client.documents(group.query, from: .server).documents.count == 2)
            try await lists.document(ids[0]).untyped.update(["members": .arrayUnion(.string(member.uuidString))])
                .acknowledged()
            #expect(try await lists.document(ids[0]).get(from: .server)?.members == [member])
        }
    }

    @Test func `Added documents have a UUID as name where the key is one`() async throws {
        try await withClient { client, site in
            let lists = client.collection("lists", of: List.self)
            let added = try await lists.addWithReceipt(List(title: "new", owner: makeID()))
            try await added.receipt.acknowledged()
            #expect(added.document.id == added.document.id.lowercased())
            #expect(try await site.postgres.query("select id from public.lists") == added.document.id)
            #expect(try await added.document.get()?.id == UUID(uuidString: added.document.id))
            #expect(client.newDocument(in: "notes").id.utf8.count == 20)
        }
    }

    @Test func `Parents in upper case are those of the rows, and a number is a name`() async throws {
        try await withClient { client, site in
            let id = makeID()
            try await client.collection("lists", of: List.self).document(id).set(List(title: "a", owner: id))
                .acknowledged()
            let todos = client.collection("lists").document(id).collection("todos").of(Todo.self)
            try await todos.document(12).set(Todo(title: "Milk")).acknowledged()
            #expect(try await todos.document(12).get(from: .server) == Todo(id: DocumentID(12), title: "Milk"))
            #expect(try await todos.documents(from: .server).map(\.id) == [12])
            for try await list in todos.stream() where !list.metadata.isFromCache {
                #expect(list.map(\.title) == ["Milk"])
                break
            }
            #expect(
                try await site.postgres.query("select list_id, id from public.todos")
                    == "\(id.uuidString.lowercased())|12")
        }
    }

    @Test func `Servers that act for callers find rows in either spelling`() async throws {
        let site = try await SupabaseSite()
        try await site.postgres.query(Self.sql)
        let tables = try TableMappings([Self.lists])
        let client = UUIDTablesClient.around(
            DirectStorageClient(SupabaseDriver(service: try site.service(), tables: tables)), tables)
        let lists = client.collection("lists", of: List.self)
        let id = makeID()
        try await lists.document(id).create(List(title: "one", owner: id))
        #expect(try await lists.document(id).get()?.title == "one")
        #expect(try await lists.where(\.owner, .equal, id).documents().map(\.id) == [id])
        await client.shutDown()
        await site.stop()
    }

    @Test func `A UUID column that stands for nothing is a mistake in the configuration`() throws {
        var mapping = Self.lists
        mapping.uuidColumns.insert("ownr")
        let failure = #expect(throws: InfrastructureError.self) { _ = try TableMappings([mapping]) }
        #expect(failure?.code == .invalidConfiguration && failure?.message.contains("“ownr”") == true)
        let back = try JSONDecoder().decode(SupabaseTableMapping.self, from: JSONEncoder().encode(Self.lists))
        #expect(back == Self.lists)
    }
}

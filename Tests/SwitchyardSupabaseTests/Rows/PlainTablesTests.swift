import Foundation
import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Somebody's project: their tables, foreign keys and policies, and nothing installed. What they would do with it, step by step.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PlainTablesTests {
    struct List: Codable, Equatable, Sendable {
        @DocumentID var id: UUID
        var owner: UUID
        var name: String
    }

    enum Mood: String, Codable, Sendable { case calm, glad, wild }

    struct Todo: Codable, Equatable, Sendable {
        @DocumentID var id: UUID
        var list: UUID?
        var title: String
        var done = false
        var due: String?
        var tags: [String] = []
        var mood = Mood.calm
        var n = 0
    }

    struct Joined: Decodable, Equatable {
        struct Named: Decodable, Equatable { let name: String }
        let title: String
        let lists: Named?
    }

    private let folder = ScratchSpace.url.appendingPathComponent("plain-\(UInt64.random(in: 0 ... .max))")

    /// Waits until the open todos have these titles.
    private static func shows(_ titles: Set<String>, _ storage: any StorageClient) async throws {
        let open = Query(in: "todos").where("done", .equal, false)
        for try await snapshot in storage.snapshots(of: open) {
            if Set(snapshot.documents.compactMap { $0.data?["title"]?.stringValue }) == titles { return }
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `Everything that somebody does with their tables works, with nothing installed`() async throws {
        let site = try await TablesSite()
        defer { try? FileManager.default.removeItem(at: folder) }
        let alice = UUID(uuidString: TablesSite.alice)!
        var storage = try await site.storage(TablesSite.mappings, stateFolder: folder)
        let bob = try await site.storage(TablesSite.mappings, as: TablesSite.bob)

        // Add.
        let home = List(id: DocumentID(UUID()), owner: alice, name: "Home")
        try await storage.collection("lists", of: List.self).document(home.id).set(home).acknowledged()
        let todos = storage.collection("todos", of: Todo.self)
        var milk = Todo(id: DocumentID(UUID()), list: home.id, title: "Milk", due: "2026-12-01", tags: ["shop", "a,b"])
        try await todos.document(milk.id).set(milk).acknowledged()
        let bread = Todo(id: DocumentID(UUID()), list: home.id, title: "Bread", due: "2026-11-30", mood: .glad)
        try await todos.document(bread.id).set(bread).acknowledged()

        // List, count, page.
        #expect(try await todos.ordered(by: \.due).documents(from: .server).map { $0 } == [bread, milk])
        #expect(try await todos.where(\.list, .equal, home.id).where(\.done, .equal, false).count() == 2)
        #expect(try await todos.ordered(by: \.title).limited(to: 1).documents(from: .server).map { $0 } == [bread])
        #expect(try await storage.count(Query(in: "todos").where("tags", .arrayContains, "a,b")) == 1)

        // Refuse a foreign row.
        let refusal = await #expect(throws: StorageError.self) {
            try await bob.updateDocument("todos/\(milk.id.uuidString)", ["title": "Beer"]).acknowledged()
        }
        #expect(refusal?.code == .notFound)
        #expect(try await bob.documents(Query(in: "todos"), from: .server).documents.isEmpty)

        // Watch: a colleague's edits from SQL arrive, and a row that leaves the query goes.
        let watched = storage
        try await Self.shows(["Milk", "Bread"], watched)
        async let told: Void = Self.shows(["Milk", "Bread", "Eggs"], watched)
        try await site.run(
            "insert into public.todos (owner, list, title) values ('\(TablesSite.alice)', '\(home.id.uuidString)', 'Eggs')"
        )
        try await told
        async let left: Void = Self.shows(["Milk", "Eggs"], watched)
        try await site.run("update public.todos set done = true where title = 'Bread'")
        try await left

        // Edit without a network, restart, and sync.
        try await storage.disableNetwork()
        milk.title = "Oat milk"
        _ = try await todos.document(milk.id).set(milk)
        try await storage.updateDocument("todos/\(bread.id.uuidString)", ["mood": "wild"])
        await storage.shutDown()
        storage = try await site.storage(TablesSite.mappings, stateFolder: folder)
        #expect(
            try await storage.collection("todos", of: Todo.self).document(milk.id).get(from: .cache)?.title
                == "Oat milk")
        try await storage.waitForPendingWrites()
        #expect(
            try await site.text("select string_agg(title || ' ' || mood, ', ' order by title) from public.todos")
                == "Bread wild, Eggs calm, Oat milk calm")

        // Count up from many sides.
        let counter = StoragePath(unchecked: "todos/\(milk.id.uuidString.lowercased())")
        try await withThrowingTaskGroup(of: Void.self) { [storage] group in
            for _ in 0..<10 {
                group.addTask { try await storage.updateDocument(counter, ["n": .increment(1)]).acknowledged() }
            }
            try await group.waitForAll()
        }
        try await storage.transaction { transaction in
            let n = try await transaction.document(counter).data?["n"]?.integerValue ?? 0
            try await transaction.update(counter, ["n": .value(.integer(n + 1))])
        }
        #expect(try await site.text("select n from public.todos where title = 'Oat milk'") == "11")

        // Join by the native door.
        let native = try #require(storage.unwrapped(as: SupabaseTables.self))
        let rows = try await native.from("todos").select("title,lists(name)").eq("title", "Eggs").rows(as: Joined.self)
        #expect(rows == [Joined(title: "Eggs", lists: Joined.Named(name: "Home"))])

        await storage.shutDown()
        await bob.shutDown()
        await site.supabase.stop()
    }
}

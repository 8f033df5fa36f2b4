import Foundation
import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// The project's tables as they are, on a local Supabase with nothing installed.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SupabaseTablesTests {
    private typealias Row = TodoRow
    private static let columns = "id,title,done,due,n,tags,mood"

    /// A user of one's own for each test, so that no one sees another test's rows.
    private func tables() async throws -> SupabaseTables {
        try await TablesSite.shared.value.tables(UUID().uuidString.lowercased())
    }

    @Test func `Rows are inserted, read, changed and deleted, and come back typed`() async throws {
        let todos = try await tables().from("todos")
        let rows = [
            Row(title: "Milk", due: "2026-12-01", n: 9_007_199_254_740_993, tags: ["a", "b c"], mood: .wild),
            Row(title: "Tea"),
        ]
        let inserted: [Row] = try await todos.insert(rows, returning: Self.columns).rows()
        #expect(inserted == rows)
        #expect(try await todos.select(Self.columns).eq("id", rows[0].id).row(as: Row.self) == rows[0])
        let changed: [Row] = try await todos.update(["done": true], returning: Self.columns).eq("title", "Milk").rows()
        #expect(changed.map(\.done) == [true])
        try await todos.delete().eq("done", true).run()
        #expect(try await todos.select(Self.columns).rows(as: Row.self) == [rows[1]])
        let gone: Row? = try await todos.select(Self.columns).eq("id", rows[0].id).first()
        #expect(gone == nil)
    }

    @Test func `Filters take values of any type, with any characters`() async throws {
        let todos = try await tables().from("todos")
        let odd = #"a,b.(c):"d"\ e&f=g%20 +é日"#
        try await todos.insert([
            Row(title: odd, due: "2026-01-01", n: 1, tags: [odd, "x"]),
            Row(title: "b", n: 2, tags: ["x", "y"], mood: .glad),
            Row(title: "c", due: "2026-06-01", n: 3),
        ]).run()
        func numbers(_ filter: (SupabaseRequest) -> SupabaseRequest) async throws -> [Int64] {
            struct Number: Decodable { let n: Int64 }
            return try await filter(todos.select("n")).order("n").rows(as: Number.self).map(\.n)
        }
        #expect(try await numbers { $0.eq("title", odd) } == [1])
        #expect(try await numbers { $0.in("title", [odd, "c", "none"]) } == [1, 3])
        #expect(try await numbers { $0.in("n", [Int]()) } == [])
        #expect(try await numbers { $0.neq("title", odd) } == [2, 3])
        #expect(try await numbers { $0.gt("n", 1).lte("n", 3) } == [2, 3])
        #expect(try await numbers { $0.gte("n", 2).lt("n", 3) } == [2])
        #expect(try await numbers { $0.isNull("due") } == [2])
        #expect(try await numbers { $0.isNotNull("due") } == [1, 3])
        #expect(try await numbers { $0.isDistinct("due", from: "2026-01-01") } == [2, 3])
        #expect(try await numbers { $0.eq("mood", Row.Mood.glad) } == [2])
        #expect(try await numbers { $0.contains("tags", [odd]) } == [1])
        #expect(try await numbers { $0.overlaps("tags", ["y", "z"]) } == [2])
        #expect(try await numbers { $0.containedBy("tags", ["x", "y", "z"]) } == [2, 3])
        #expect(try await numbers { $0.like("title", "%日") } == [1])
        #expect(try await numbers { $0.ilike("title", "B") } == [2])
        #expect(try await numbers { $0.or("n.eq.1,title.eq.c") } == [1, 3])
        #expect(try await numbers { $0.filter("due", "not.lt.2026-02-01") } == [3])
        #expect(try await numbers { $0.lt("at", Date(timeIntervalSince1970: 0)) } == [])
        #expect(try await numbers { $0.gt("at", Date(timeIntervalSince1970: 0)) } == [1, 2, 3])
    }

    @Test func `Orders, ranges and counts`() async throws {
        struct Title: Decodable, Equatable { let title: String }
        let todos = try await tables().from("todos")
        try await todos.insert((0..<12).map { Row(title: "t\($0 % 3)", n: Int64($0)) }).run()
        let ordered = todos.select("title,n").order("title", ascending: false).order("n")
        #expect(
            try await ordered.range(3..<6).rows(as: [String: TableScalar].self).map { $0["n"] } == [
                .int(11), .int(1), .int(4),
            ])
        let page = try await ordered.range(8..<20).page(as: Title.self)
        #expect(page.rows.count == 4 && page.total == 12 && page.offset == 8 && page.hasMore == false)
        #expect(try await ordered.range(0..<5).page(as: Title.self).hasMore == true)
        let beyond = try await ordered.range(50..<60).page(as: Title.self)
        #expect(beyond.rows.isEmpty && beyond.total == 12)
        #expect(try await todos.select().eq("title", "t1").count() == 4)
    }

    @Test func `Upserts change what is there, and leave what they do not name`() async throws {
        struct Part: Codable { let id: UUID; let title: String }
        let todos = try await tables().from("todos")
        let row = Row(title: "first", n: 5)
        try await todos.insert(row).run()
        try await todos.upsert([Part(id: row.id, title: "second")], onConflict: "id").run()
        #expect(try await todos.select(Self.columns).row(as: Row.self).n == 5)
        try await todos.upsert(Part(id: row.id, title: "third"), ignoresDuplicates: true).run()
        #expect(try await todos.select(Self.columns).row(as: Row.self).title == "second")
    }

    @Test func `Functions are called with their arguments, and their rows filtered`() async throws {
        let tables = try await tables()
        #expect(try await tables.rpc("tomorrow", ["day": "2026-12-31"]).value(as: String.self) == "2027-01-01")
        try await tables.from("todos").insert([Row(title: "a", n: 1), Row(title: "b", n: 2), Row(title: "c", n: 3)])
            .run()
        struct Number: Decodable { let n: Int64 }
        let open = tables.rpc("open_todos", ["from": 2], isReadOnly: true).order("n", ascending: false)
        #expect(try await open.rows(as: Number.self).map(\.n) == [3, 2])
        #expect(try await open.eq("title", "b").rows(as: Number.self).map(\.n) == [2])
    }

    @Test func `Related rows come with the rows, in an order and a range of their own`() async throws {
        struct Named: Decodable, Equatable { let name: String }
        struct Todo: Decodable, Equatable {
            let title: String
            let lists: Named?
        }
        struct List: Decodable, Equatable {
            struct Item: Decodable, Equatable { let n: Int64 }
            let name: String
            let todos: [Item]
        }
        let user = UUID().uuidString.lowercased()
        let tables = try await TablesSite.shared.value.tables(user)
        let list = UUID()
        try await tables.from("lists").insert(["id": list.uuidString, "owner": user, "name": "Home"]).run()
        try await tables.from("todos").insert([Row(title: "loose", n: 9)]).run()
        struct Listed: Encodable {
            let title: String
            let list: UUID
            let n: Int64
        }
        try await tables.from("todos").insert((1...4).map { Listed(title: "t\($0)", list: list, n: $0) }).run()
        let todos = try await tables.from("todos").select("title, lists(name)").in("n", [4, 9]).order("n").rows(
            as: Todo.self)
        #expect(todos == [Todo(title: "t4", lists: Named(name: "Home")), Todo(title: "loose", lists: nil)])
        let inner = tables.from("todos").select("title, lists!inner(name)").eq("lists.name", "Home")
        #expect(try await inner.count() == 4)
        let lists = tables.from("lists").select("name, todos(n)").order("n", ascending: false, in: "todos").limit(
            2, in: "todos")
        #expect(try await lists.row(as: List.self) == List(name: "Home", todos: [.init(n: 4), .init(n: 3)]))
        let error = await failure { () throws(StorageError) in
            try await tables.from("todos").select("*, moods(*)").run()
        }
        #expect(error?.code == .invalidArgument && error?.message.contains("moods") == true, "\(error as Any)")
    }

    // MARK: What goes wrong

    private func failure(_ body: () async throws(StorageError) -> Void) async -> StorageError? {
        do throws(StorageError) { try await body() } catch { return error }
        return nil
    }

    @Test func `A change without a filter is not sent`() async throws {
        let todos = try await tables().from("todos")
        for request in [todos.delete(), todos.update(["done": true])] {
            let error = await failure { () throws(StorageError) in try await request.run() }
            #expect(error?.code == .invalidArgument && error?.message.contains("every row") == true)
        }
    }

    @Test func `One row is one row`() async throws {
        let todos = try await tables().from("todos")
        try await todos.insert([Row(title: "a"), Row(title: "a")]).run()
        let none = await failure { () throws(StorageError) in
            _ = try await todos.select(Self.columns).eq("title", "b").row(as: Row.self)
        }
        #expect(none?.code == .notFound)
        let several = await failure { () throws(StorageError) in
            _ = try await todos.select(Self.columns).row(as: Row.self)
        }
        #expect(several?.code == .failedPrecondition && several?.isRetryable == false)
    }

    @Test func `Errors name what the database refuses, and what cannot be decoded`() async throws {
        let tables = try await tables()
        let todos = tables.from("todos")
        let missing = await failure { () throws(StorageError) in try await tables.from("nothing").select().run() }
        #expect(missing?.code == .unsupported)
        let column = await failure { () throws(StorageError) in try await todos.select("colour").run() }
        #expect(column?.code == .invalidArgument && column?.message.contains("colour") == true)
        let foreign = await failure { () throws(StorageError) in
            try await todos.insert(["title": "x", "owner": TablesSite.bob]).run()
        }
        #expect(foreign?.code == .unauthorized && foreign?.message.contains("todos") == true)
        let compared = await failure { () throws(StorageError) in try await todos.select().eq("due", String?.none).run()
        }
        #expect(compared?.code == .invalidArgument && compared?.message.contains("isNull") == true)
        try await todos.insert(Row(title: "a")).run()
        struct Wrong: Decodable { let title: Int }
        let wrong = await failure { () throws(StorageError) in _ = try await todos.select("title").rows(as: Wrong.self)
        }
        #expect(wrong?.code == .codingFailed && wrong?.message.contains("at [0].title") == true, "\(wrong as Any)")
        let silent = await failure { () throws(StorageError) in
            _ = try await todos.insert(Row(title: "b")).rows(as: Row.self)
        }
        #expect(silent?.code == .invalidArgument && silent?.message.contains("returning") == true)
    }

    @Test func `Rows of other people are not there, and a client without a session has no user`() async throws {
        let site = try await TablesSite.shared.value
        let mine = try await tables().from("todos")
        let row = Row(title: "mine")
        try await mine.insert(row).run()
        let theirs = try await tables().from("todos")
        #expect(try await theirs.select().eq("id", row.id).count() == 0)
        let changed: [Row] = try await theirs.update(["title": "stolen"], returning: Self.columns).eq("id", row.id)
            .rows()
        #expect(changed.isEmpty)
        #expect(try await mine.select(Self.columns).row(as: Row.self).title == "mine")
        let module = SupabaseModule(
            SupabaseConfiguration(url: site.supabase.server.url, key: Secret(site.supabase.anonKey)))
        let signedOut = try await SupabaseStorageAdapter(module.clientContext(ModuleContext()))
        let found = signedOut.unwrapped(as: SupabaseTables.self)
        #expect(try await found?.from("todos").select().count() == 0)
        await signedOut.shutDown()
    }
}

/// A number or a text.
private enum TableScalar: Decodable, Equatable {
    case int(Int)
    case text(String)

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let int = try? container.decode(Int.self) {
            self = .int(int)
        } else {
            self = .text(try container.decode(String.self))
        }
    }
}

import Foundation
import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSupabase
import SwitchyardTestSupport
import Testing

/// What the page for those who know the vendor's client shows, done.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct ComingFromSupabaseSwiftTests {
    private struct Todo: Codable, Equatable {
        var title: String
        var done: Bool
    }

    @Test func `The page's requests are answered`() async throws {
        let supabase = try await TablesSite.shared.value.supabase
        let configuration = SupabaseConfiguration(url: supabase.server.url, key: Secret(supabase.anonKey))
        let backend = try await Infrastructure(.supabase(configuration))
        let name = UUID().uuidString
        try await backend.auth.signUp(email: "\(name)@example.com", password: "a long secret")
        var shown: [Any] = []
        func show(_ items: Any...) { shown += items }
        do {
            guard let tables = backend.storage.unwrapped(as: SupabaseTables.self) else { return }
            let open: [Todo] = try await tables.from("todos").select().eq("done", false).order("due").rows()
            #expect(open == [])
            let new = [Todo(title: "Milk", done: false), Todo(title: "Tea", done: false)]
            let stored: [Todo] = try await tables.from("todos").insert(new, returning: "*").rows()
            #expect(stored == new)
            let page = try await tables.from("todos").select().order("title").range(0..<50).page(as: Todo.self)
            show(page.rows, page.total as Any)
            #expect(page.rows == new && page.total == 2)
        }
        #expect(shown.count == 2)
        await backend.shutDown()
    }

    @Test func `Every piece of Swift in the page stands in the test, line for line`() throws {
        let page = try Article("Plugins/SwitchyardSupabase/Documentation.docc/ComingFromSupabaseSwift.md")
        let missing = try page.missing(in: #filePath)
        #expect(missing.isEmpty, "not done in the test: \(missing)")
    }
}

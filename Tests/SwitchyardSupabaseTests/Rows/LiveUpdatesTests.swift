import Switchyard
import SwitchyardLocalSupabase
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct LiveUpdatesTests {
    @Test func `A client says whether changes are announced or the database is polled`() async throws {
        let site = try await TablesSite()
        let storage = try await site.storage(TablesSite.mappings)
        let supabase = try #require(storage.unwrapped(as: SupabaseStorageAdapter.self))
        #expect(supabase.updates(of: "todos") == .polled(every: .milliseconds(50)))
        try await site.run("alter publication supabase_realtime add table public.todos")
        let stream = Task { for try await _ in storage.snapshots(of: Query(in: "todos")) {} }
        try await eventually("changes are announced", within: .seconds(30)) { supabase.updates(of: "todos") == .live }
        #expect(supabase.updates(of: "lists") == .polled(every: .milliseconds(50)))
        stream.cancel()
        await storage.shutDown()
        await site.supabase.stop()
    }
}

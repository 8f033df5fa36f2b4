import Foundation
import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
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

    /// Rows have versions by the device's clock, and documents by the database's.
    @Test(.timeLimit(.minutes(2)))
    func `A device whose clock is ahead follows documents after it has followed rows`() async throws {
        var options = LocalSupabaseOptions()
        options.scripts = [
            DocumentSchema.sql,
            """
            create table public.things (id text primary key, title text);
            insert into public.things values ('a', 'A');
            grant all on public.things to authenticated;
            """,
        ]
        let supabase = try await LocalSupabase.onSharedPostgres(options)
        var configuration = SupabaseConfiguration(
            url: supabase.server.url, key: Secret(supabase.anonKey), checkInterval: .milliseconds(50))
        configuration.tables = [SupabaseTableMapping(collection: "things", table: "things", columns: ["title"])]
        let module = SupabaseModule(configuration)
        let auth = FixedAuthClient(provider: .supabase, user: AuthUser.ID(TablesSite.alice)) { _ in
            supabase.accessToken(for: TablesSite.alice)
        }
        let ahead = try await module.makeStorageClient(
            ModuleContext(auth: auth, now: { Timestamp(Date().addingTimeInterval(3_600)) }))
        let other = try await module.makeStorageClient(ModuleContext(auth: auth))
        for try await rows in ahead.snapshots(of: Query(in: "things")) where !rows.metadata.isFromCache {
            #expect(rows.documents.map(\.path) == ["things/a"])
            break
        }
        // A new stream of changes.
        try await ahead.disableNetwork()
        try await ahead.enableNetwork()
        var written = 0
        for try await notes in ahead.snapshots(of: Query(in: "notes")) where !notes.metadata.isFromCache {
            #expect(notes.documents.count == written)
            if written == 2 { break }
            written += 1
            try await other.setDocument(StoragePath(unchecked: "notes/\(written)"), ["text": "T"]).acknowledged()
        }
        for client in [ahead, other] { await client.shutDown() }
        await supabase.stop()
    }
}

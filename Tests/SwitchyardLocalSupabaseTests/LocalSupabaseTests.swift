import Foundation
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// How a local Supabase starts, and what its database has from the start.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct LocalSupabaseTests {
    private func withSupabase(
        _ options: LocalSupabaseOptions = LocalSupabaseOptions(), _ body: (LocalSupabase) async throws -> Void
    ) async throws {
        let supabase = try await LocalSupabase(options)
        do {
            try await body(supabase)
        } catch {
            await supabase.stop()
            throw error
        }
        await supabase.stop()
    }

    @Test func `Statements run as whom a token names, and policies hold`() async throws {
        try await withSupabase { supabase in
            let database = supabase.database
            _ = try await database.run([
                PostgresStatement("create table notes (owner uuid default auth.uid(), body text)"),
                PostgresStatement("alter table notes enable row level security"),
                PostgresStatement("create policy own on notes using (owner = (select auth.uid()))"),
            ])
            let ann = "00000000-0000-4000-8000-000000000001"
            let token = try supabase.context.access.token(supabase.accessToken(for: ann))
            let results = try await database.run(
                [
                    PostgresStatement("insert into notes (body) values ($1)", ["hers"]),
                    PostgresStatement("select current_user || ' ' || auth.role() || ' ' || auth.uid()"),
                ], as: token)
            #expect(results[1].text == "authenticated authenticated \(ann)")
            let count = PostgresStatement("select count(*) from notes")
            #expect(try await database.run([count], as: token)[0].text == "1")
            let other = try supabase.context.access.token(
                supabase.accessToken(for: "00000000-0000-4000-8000-000000000002"))
            #expect(try await database.run([count], as: other)[0].text == "0")
            let signedOut = try supabase.context.access.token(supabase.anonKey)
            #expect(try await database.run([count], as: signedOut)[0].text == "0")
            let service = try supabase.context.access.token(supabase.serviceKey)
            #expect(try await database.run([count], as: service)[0].text == "1")

            let failure = await #expect(throws: PostgresFailure.self) {
                _ = try await database.run([PostgresStatement("delete from notes")], as: token, readOnly: true)
            }
            #expect(failure?.code == "25006")
        }
    }

    @Test func `What a folder keeps, the next one finds: rows, and who holds which token`() async throws {
        var options = LocalSupabaseOptions()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("supabase-\(UUID().uuidString)")
        options.folder = folder
        defer { try? FileManager.default.removeItem(at: folder) }
        var token = ""
        try await withSupabase(options) { supabase in
            _ = try await supabase.database.run([PostgresStatement("create table kept (x int)")])
            token = supabase.accessToken(for: "ann")
            let second = await #expect(throws: LocalSupabaseError.self) { _ = try await LocalSupabase(options) }
            #expect(second?.message.contains("Another server uses the folder") == true)
        }
        try await withSupabase(options) { supabase in
            #expect(try await supabase.database.run([PostgresStatement("select count(*) from kept")])[0].text == "0")
            let known = try supabase.context.access.token(token)
            #expect(known.claims["sub"] == "ann")
        }
    }

    @Test func `With a folder, ports and keys are the same at each start, unless somebody has taken a port`()
        async throws
    {
        var options = LocalSupabaseOptions()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("supabase-\(UUID().uuidString)")
        options.folder = folder
        let time = LocalTime()
        options.now = { time.now }
        defer { try? FileManager.default.removeItem(at: folder) }
        var first: [String: String] = [:]
        try await withSupabase(options) { supabase in
            first = supabase.environment
            time.advance(by: 7)
            #expect(supabase.environment == first, "and while it runs")
        }
        time.advance(by: 86_400)
        try await withSupabase(options) { supabase in #expect(supabase.environment == first) }
        let port = try #require(first["SUPABASE_URL"].flatMap { URL(string: $0)?.port }.flatMap { UInt16($0) })
        let databasePort = try #require(
            first["SUPABASE_DB_URL"].flatMap { URL(string: $0)?.port }.flatMap { UInt16($0) })
        var taken: [LoopbackServer] = []
        for port in [port, databasePort] {
            var configuration = ServerConfiguration()
            configuration.port = port
            taken.append(try LoopbackServer(configuration) { _ in .text("here") })
        }
        try await withSupabase(options) { supabase in
            #expect(supabase.port != port && supabase.postgres?.port != databasePort)
            #expect(
                supabase.anonKey == first["SUPABASE_ANON_KEY"]
                    && supabase.serviceKey == first["SUPABASE_SERVICE_ROLE_KEY"])
        }
        for server in taken { await server.stop() }
    }

    @Test func `Two on one database share it, and a taken port is named`() async throws {
        try await withSupabase { first in
            var options = LocalSupabaseOptions()
            options.database = .given(port: try #require(first.postgres).port)
            try await withSupabase(options) { second in
                _ = try await first.database.run([PostgresStatement("create table shared (x int)")])
                #expect(
                    try await second.database.run([PostgresStatement("select count(*) from shared")])[0].text == "0")
            }
            options.port = first.port
            let failure = await #expect(throws: LocalSupabaseError.self) { _ = try await LocalSupabase(options) }
            #expect(failure?.message.contains("\(first.port)") == true)
        }
    }

    @Test func `Its variables are what the vendor's clients look for`() async throws {
        try await withSupabase { supabase in
            #expect(supabase.environment["SUPABASE_URL"] == supabase.server.url)
            #expect(
                supabase.environment.keys.sorted() == [
                    "SUPABASE_ANON_KEY", "SUPABASE_DB_URL", "SUPABASE_JWT_SECRET", "SUPABASE_SERVICE_ROLE_KEY",
                    "SUPABASE_URL",
                ])
            for (name, value) in supabase.environment { #expect(supabase.summary.contains("export \(name)=\(value)")) }
        }
    }
}

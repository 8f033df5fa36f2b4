import Foundation
import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// What an installation says is missing, whoever runs it.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct InstallCheckTests {
    /// Roles belong to the whole server, which other tests share.
    private let maker = "maker_\(UInt32.random(in: 0 ... .max))"

    /// A database with the vendor's schemas, and a role that may make a schema there and change nothing of the vendor's.
    private func withDatabase(_ body: (PostgresServer, LocalSupabase) async throws -> Void) async throws {
        let server = try await PostgresServer()
        var options = LocalSupabaseOptions()
        options.database = server.place
        let supabase = try await LocalSupabase(options)
        do {
            try await server.query(
                """
                create role \(maker) login nosuperuser createrole;
                grant all on schema public to \(maker);
                do $$ begin execute format('grant create on database %I to \(maker)', current_database()); end $$;
                """)
            try await body(server, supabase)
        } catch {
            await supabase.stop()
            server.stop()
            throw error
        }
        await supabase.stop()
        server.stop()
    }

    /// The rows at the end: what is missing, the statement, and who may run it.
    private func install(
        on server: PostgresServer, as role: String, domain: Bool = false
    ) async throws -> [[String]] {
        guard case .given(let port, _, let name) = server.place else { return [["no address"]] }
        let connection = try await PostgresConnection(port: port, user: role, database: name)
        defer { connection.close() }
        let result = try await connection.run(script: DocumentSchema.installation(domain: domain)).last
        return (result?.rows ?? []).map { row in row.map { String(decoding: $0 ?? [], as: UTF8.self) } }
    }

    @Test func `An installation by the database's own administrator lacks nothing, also of the domain's rules`()
        async throws
    {
        try await withDatabase { server, _ in
            for _ in 1...2 {
                let missing = try await install(on: server, as: "postgres", domain: true)
                #expect(missing == [])
            }
            #expect(try await server.query("select count(*) from switchyard.rules where read = 'domain'") == "5")
        }
    }

    @Test func `A role that may not change the channels gets the statements to run, and with that all is well`()
        async throws
    {
        try await withDatabase { server, supabase in
            let missing = try await install(on: server, as: maker)
            let names = missing.map { $0[0] }
            #expect(names.contains { $0.hasPrefix("the policy switchyard_listen on realtime.messages") })
            #expect(names.contains { $0.hasPrefix("the policy switchyard_messages on realtime.messages") })
            #expect(
                names.contains { $0.contains("use the schema realtime, without which documents cannot be written") })
            #expect(missing.allSatisfy { $0.count == 3 && $0[1].hasSuffix(";") && $0[2].contains("postgres") })
            for row in missing { try await server.query(row[1]) }
            #expect(try await install(on: server, as: maker) == [])

            // And it works: live queries are notified, and messages received.
            let module = SupabaseModule(
                SupabaseConfiguration(url: supabase.server.url, key: Secret(supabase.anonKey)))
            let auth = try await module.makeAuthClient(ModuleContext())
            try await auth.signUp(email: "ann@example.com", password: "long enough")
            let storage = try await module.makeStorageClient(ModuleContext(auth: auth))
            try await storage.setDocument("notes/1", ["n": 1]).acknowledged()
            for try await snapshot in storage.snapshots(of: "notes/1") where snapshot["n"] == 1 { break }
            let count = try await server.query("select count(*) from realtime.messages where topic = 'documents:notes'")
            #expect(count == "1")
            await storage.shutDown()
            await auth.shutDown()
        }
    }

    @Test func `A client says once which policy is missing, at the first channel that is refused`() async throws {
        try await withDatabase { server, supabase in
            #expect(try await install(on: server, as: "postgres") == [])
            try await server.query(
                "drop policy switchyard_listen on realtime.messages; drop policy switchyard_messages on realtime.messages"
            )
            let events = EventLog()
            let module = SupabaseModule(
                SupabaseConfiguration(
                    url: supabase.server.url, key: Secret(supabase.anonKey), checkInterval: .milliseconds(50)))
            let auth = try await module.makeAuthClient(ModuleContext())
            try await auth.signUp(email: "ann@example.com", password: "long enough")
            let context = ModuleContext(auth: auth, observer: events)
            let storage = try await module.makeStorageClient(context)
            let first = Task { for try await _ in storage.snapshots(of: "notes/1") {} }
            let second = Task { for try await _ in storage.snapshots(of: "lists/1") {} }
            func notices() -> [String] {
                events.kinds.compactMap { if case .notice(let text) = $0 { text } else { nil } }
            }
            try await eventually("the notice", within: .seconds(20)) { !notices().isEmpty }
            #expect(notices().count == 1 && notices()[0].contains("switchyard_listen on realtime.messages"))

            let messaging = try await module.makeMessagingClient(context)
            let error = await #expect(throws: MessagingError.self) {
                () async throws -> Void in _ = try await messaging.token()
            }
            #expect(error?.code == .unauthorized)
            #expect(error?.message.contains("switchyard_messages on realtime.messages") == true)
            #expect(notices().count == 1, "the second channel was refused as well")
            for task in [first, second] { task.cancel() }
            await messaging.shutDown()
            await storage.shutDown()
            await auth.shutDown()
        }
    }

    @Test func `What went missing later is found, each with its remedy`() async throws {
        try await withDatabase { server, _ in
            #expect(try await install(on: server, as: "postgres", domain: true) == [])
            try await server.query(
                """
                drop function public.switchyard_outcome;
                revoke usage on schema switchyard from authenticated;
                alter table switchyard.batches disable row level security;
                drop policy documents_read on switchyard.documents;
                alter table switchyard.documents disable trigger documents_updated;
                drop policy switchyard_listen on realtime.messages;
                update switchyard.rules set write = 'authenticated' where collection_id = 'contacts';
                -- Last: a change of the rules sets the rights as well.
                revoke execute on function public.switchyard_get from authenticated;
                """)
            let rows = try await server.query(
                "select string_agg(missing, '|' order by missing) from switchyard.missing(true)")
            #expect(
                rows.split(separator: "|") == [
                    "row-level security on switchyard.batches",
                    "the function public.switchyard_outcome",
                    "the policy documents_read on switchyard.documents",
                    "the policy switchyard_listen on realtime.messages, for live queries",
                    "the right of authenticated to call public.switchyard_get",
                    "the right of authenticated to use the schema switchyard",
                    "the rule domain for the collection contacts, which has the rules domain and authenticated",
                    "the trigger documents_updated on switchyard.documents",
                ])
            // Rows of the project's own stay; everything else is put there again.
            #expect(
                try await install(on: server, as: "postgres", domain: true).map { $0[0] }
                    == [
                        "the rule domain for the collection contacts, which has the rules domain and authenticated",
                        "the trigger documents_updated on switchyard.documents",
                    ].filter { $0.hasPrefix("the rule") })
        }
    }
}

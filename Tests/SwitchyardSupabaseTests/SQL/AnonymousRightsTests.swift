import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// What callers may do who are not signed in.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct AnonymousRightsTests {
    private static let callable = """
        select string_agg(n.nspname || '.' || p.proname, ' ' order by n.nspname, p.proname) from pg_proc p
          join pg_namespace n on n.oid = p.pronamespace
          where (n.nspname = 'switchyard' or (n.nspname = 'public' and p.proname like 'switchyard%'))
            and has_function_privilege('anon', p.oid, 'execute')
        """
    private static let always = [
        "public.switchyard_schema", "public.switchyard_unregister", "switchyard.caller", "switchyard.may_listen",
    ]
    private static let readers = [
        "public.switchyard_aggregate", "public.switchyard_changes", "public.switchyard_collections",
        "public.switchyard_get", "public.switchyard_query", "switchyard.holder", "switchyard.standing",
    ]

    private func withDatabase(
        _ parts: Set<SchemaPart>, anon: Bool = false, _ body: (PostgresServer) async throws -> Void
    ) async throws {
        let server = try await PostgresServer()
        defer { server.stop() }
        try await server.query(DocumentSchema.installation(of: parts, anon: anon))
        try await body(server)
    }

    private func callable(_ server: PostgresServer) async throws -> [String] {
        try await server.query(Self.callable).split(separator: " ").map(String.init)
    }

    @Test func `Without a public rule, whoever is not signed in may call almost nothing`() async throws {
        let cases: [(Set<SchemaPart>, [String])] = [
            ([.documents, .messages, .rows], Self.always), ([.documents, .domain, .messages], Self.always),
            ([.documents], Self.always.filter { $0 != "public.switchyard_unregister" }),
            ([.messages], Self.always.filter { $0 != "switchyard.may_listen" }),
        ]
        for (parts, callable) in cases {
            try await withDatabase(parts) { server in
                let found = try await self.callable(server)
                #expect(found == callable, "\(parts)")
            }
        }
    }

    @Test func `A public rule opens what it needs, and closes it again when it goes`() async throws {
        try await withDatabase([.documents, .messages]) { server in
            try await server.query("insert into switchyard.rules values ('posts', 'public', 'owner')")
            #expect(try await callable(server) == (Self.always + Self.readers).sorted())
            let signedOut = try await SQLCaller(nil, on: server)
            defer { signedOut.close() }
            #expect(try await signedOut.text("select count(*) from switchyard.documents") == "0")
            #expect(await signedOut.failure("select public.switchyard_commit('b', '[]')") == "42501")

            try await server.query("update switchyard.rules set read = 'owner', write = 'public'")
            let writable = try await callable(server)
            #expect(writable.contains("public.switchyard_commit") && writable.contains("public.switchyard_commit_rows"))
            #expect(!writable.contains("public.switchyard_get") && !writable.contains("switchyard.begin_epoch"))
            try await signedOut.commit(#"{"op": "set", "path": "posts/1", "data": {}}"#)

            try await server.query("delete from switchyard.rules")
            #expect(try await callable(server) == Self.always)
            #expect(await signedOut.failure("select count(*) from switchyard.documents") == "42501")
        }
    }

    @Test func `Everything is open where that was asked for, and where an update found it so`() async throws {
        try await withDatabase([.documents, .rows], anon: true) { server in
            for _ in 1...2 {
                let callable = try await callable(server)
                #expect(callable.contains("public.switchyard_commit") && callable.contains("public.switchyard_rows"))
                #expect(!callable.contains("switchyard.is_trusted") && !callable.contains("switchyard.create_index"))
                // As versions were before there was a choice.
                try await server.query("alter table switchyard.settings drop column parts cascade, drop column anon")
                try await server.query(DocumentSchema.installation(of: [.documents]))
            }
            try await server.query("update switchyard.settings set anon = false")
            #expect(
                try await callable(server) == [
                    "public.switchyard_schema", "switchyard.caller", "switchyard.may_listen",
                ])
        }
    }

    @Test func `Two who open and close collections at once wait for each other`() async throws {
        try await withDatabase([.documents]) { server in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for n in 1...6 {
                    group.addTask {
                        try await server.query(
                            "insert into switchyard.rules values ('c\(n)', 'public', 'public'); delete from switchyard.rules where collection_id = 'c\(n)'"
                        )
                    }
                }
                try await group.waitForAll()
            }
            #expect(
                try await callable(server) == [
                    "public.switchyard_schema", "switchyard.caller", "switchyard.may_listen",
                ])
        }
    }

    @Test func `A client without a session gets the reason, and its writes do not wait`() async throws {
        let site = try await SupabaseSite()
        let client = try site.client(key: site.supabase.anonKey)
        let reading = await #expect(throws: StorageError.self) {
            _ = try await client.document("notes/a", from: .server)
        }
        #expect(reading?.code == .unauthenticated)
        #expect(reading?.message.contains("no collection is open to everybody") == true)
        let writing = await #expect(throws: StorageError.self) {
            try await client.setDocument("notes/a", ["n": 1]).acknowledged()
        }
        #expect(writing?.code == .unauthorized)
        try await site.postgres.query("insert into switchyard.rules values ('notes', 'public', 'public')")
        try await client.setDocument("notes/a", ["n": 2]).acknowledged()
        #expect(try await client.document("notes/a", from: .server).data == ["n": 2])
        await client.shutDown()
        await site.stop()
    }
}

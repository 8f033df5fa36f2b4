import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// An installation on a database that is in use, or that the role may not change.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct InstallInUseTests {
    @Test func `Eight installations in a row run beside commits, readers and deletions, and none of them fails`()
        async throws
    {
        let server = try await PostgresServer()
        defer { server.stop() }
        let supabase = try await site(server)
        try await server.query(DocumentSchema.installation(domain: true))
        let failures = try await withThrowingTaskGroup(of: [String].self) { group in
            for worker in 0..<6 {
                group.addTask {
                    let user = try await SQLCaller("u\(worker)", on: server)
                    defer { user.close() }
                    var codes: [String] = []
                    while !Task.isCancelled {
                        let code =
                            switch worker {
                            case 0: await user.failure("select public.switchyard_delete_tree('trees/t0')")
                            case 1:
                                await user.failure(
                                    #"select public.switchyard_changes('[{"id": 1, "query": {"in": "users", "orders": [[null, "asc"]]}}]')"#
                                )
                            case 2: await user.failure("select switchyard.may_listen('documents:notes')")
                            default:
                                await user.failure(
                                    "select public.switchyard_commit(gen_random_uuid()::text, $1::jsonb)",
                                    (0..<5).map {
                                        #"{"op": "set", "path": "notes/\#(worker)-\#($0)", "data": {"n": 1}}"#
                                    }
                                    .joined(separator: ",").bracketed)
                            }
                        if let code { codes.append("\(worker): \(code)") }
                    }
                    return codes
                }
            }
            var codes: [String] = []
            for _ in 1...8 {
                do {
                    let connection = try await server.connect()
                    defer { connection.close() }
                    try await connection.run(script: DocumentSchema.installation(domain: true))
                } catch { codes.append("\(error)") }
            }
            group.cancelAll()
            return try await group.reduce(into: codes) { $0 += $1 }
        }
        #expect(failures == [])
        await supabase.stop()
    }

    private func site(_ server: PostgresServer) async throws -> LocalSupabase {
        var options = LocalSupabaseOptions()
        options.database = server.place
        return try await LocalSupabase(options)
    }

    @Test func `A refused installation changes nothing, the rows of the domain included`() async throws {
        let server = try await PostgresServer()
        defer { server.stop() }
        try await server.query(DocumentSchema.sql)
        try await server.query("update switchyard.settings set schema = 1000; create table witness ()")
        let connection = try await server.connect()
        defer { connection.close() }
        await #expect(throws: PostgresFailure.self) {
            try await connection.run(script: DocumentSchema.installation(domain: true))
        }
        #expect(try await server.query("select count(*) from switchyard.rules") == "0")
    }

    @Test func `Indexes that hold up no one are left to be built where there are many documents`() async throws {
        let server = try await PostgresServer()
        defer { server.stop() }
        try await server.query(DocumentSchema.sql)
        try await server.query(
            """
            drop index switchyard.documents_owner;
            set session_replication_role = replica;
            insert into switchyard.documents (path, data, owner, created_at, updated_at)
              select 'notes/' || n, '{}', 'ann', now(), now() from generate_series(1, 20001) n;
            """)
        try await server.query(DocumentSchema.sql)
        let missing = try await server.query("select statement from switchyard.missing()")
        #expect(missing.hasPrefix("create index concurrently if not exists documents_owner on switchyard.documents"))
        try await server.query(missing)
        #expect(try await server.query("select count(*) from switchyard.missing()") == "0")
    }

    @Test func `Whoever may change the channels, but owns nothing here, runs what the installation asks for`()
        async throws
    {
        let server = try await PostgresServer()
        defer { server.stop() }
        let supabase = try await site(server)
        let (maker, keeper) = ("maker_\(UInt32.random(in: 0 ... .max))", "keeper_\(UInt32.random(in: 0 ... .max))")
        try await server.query(
            """
            create role \(maker) login nosuperuser; create role \(keeper) login nosuperuser;
            grant all on schema public to \(maker);
            do $$ begin execute format('grant create on database %I to \(maker)', current_database()); end $$;
            do $$ begin execute format('grant %I to \(keeper)',
              (select pg_get_userbyid(relowner) from pg_class where oid = 'realtime.messages'::regclass)); end $$;
            create role realtime_owner_\(maker); grant realtime_owner_\(maker) to \(keeper);
            grant usage, create on schema realtime to realtime_owner_\(maker);
            alter table realtime.messages owner to realtime_owner_\(maker);
            do $$ begin execute format('revoke %I from \(keeper)', current_user); end $$;
            grant usage on schema realtime to \(maker);
            grant execute on all functions in schema realtime to \(maker); grant insert, select on realtime.messages to \(maker);
            """)
        func connect(_ role: String) async throws -> PostgresConnection {
            try await PostgresConnection(port: UInt16(server.port), user: role, database: server.name)
        }
        let installing = try await connect(maker)
        defer { installing.close() }
        let rows = try await installing.run(script: DocumentSchema.installation()).last?.rows ?? []
        let statements = rows.map { String(decoding: ($0[1] ?? []), as: UTF8.self) }
        #expect(statements.contains { $0.hasPrefix("create policy switchyard_listen") })
        let keeping = try await connect(keeper)
        defer { keeping.close() }
        for statement in statements { try await keeping.run(script: statement) }
        #expect(try await installing.run(script: DocumentSchema.installation()).last?.rows.count == 0)
        await supabase.stop()
    }
}

extension String {
    fileprivate var bracketed: String { "[\(self)]" }
}

import SwitchyardBytes
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// How deletions and answers that no one needs any more go, beside commits that must not wait for that.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct ForgettingTests {
    private static func filled() async throws -> PostgresServer {
        let server = try await PostgresServer()
        try await server.query(DocumentSchema.sql)
        try await server.query(
            """
            set session_replication_role = replica;
            insert into switchyard.batches (id, owner, answer, kept_at)
              select n::text, 'ann', '{}', now() - (case when n <= 500 then interval '1 year' else interval '1 day' end)
              from generate_series(1, 60000) n;
            insert into switchyard.deletions (path, place, collection, collection_id, version, deleted_at)
              select 'posts/p' || n, switchyard.place('posts/p' || n), 'posts', 'posts', n::text::xid8,
                     now() - (case when n <= 500 then interval '1 year' else interval '1 day' end)
              from generate_series(1, 60000) n;
            analyze switchyard.batches;
            analyze switchyard.deletions;
            """)
        return server
    }

    private static func left(_ server: PostgresServer) async throws -> String {
        try await server.query(
            "select (select count(*) from switchyard.batches), (select count(*) from switchyard.deletions)")
    }

    @Test func `Little goes at a time, found by indexes, until all that is old is gone`() async throws {
        let server = try await Self.filled()
        defer { server.stop() }
        let first = try await server.query(
            """
            begin;
            select switchyard.forget();
            select coalesce(sum(seq_scan), 0) from pg_stat_xact_user_tables
              where schemaname = 'switchyard' and relname in ('batches', 'deletions');
            commit;
            """)
        #expect(first == "400\n0")
        #expect(try await Self.left(server) == "59800|59800")
        // Whoever listened last before the newest of them starts over, and no one else.
        let seen = try #require(
            Int(try await server.query("select forgotten from switchyard.settings")))
        #expect((200...501).contains(seen))
        for rest in [400, 200, 0] { #expect(try await server.query("select switchyard.forget()") == "\(rest)") }
        #expect(try await Self.left(server) == "59500|59500")
        #expect(try await server.query("select forgotten from switchyard.settings") == "501")
    }

    @Test func `No one waits for somebody who forgets, or who holds what is to be forgotten`() async throws {
        let server = try await Self.filled()
        defer { server.stop() }
        let both = try await server.query(
            """
            create extension if not exists dblink;
            select dblink_connect('other', 'host=127.0.0.1 port=\(server.port) user=postgres dbname=\(server.name)');
            select dblink_exec('other', 'begin');
            select * from dblink('other', 'select switchyard.forget()') as t(n int);
            set lock_timeout = '1s';
            select switchyard.forget();
            select dblink_exec('other', 'rollback; begin');
            select * from dblink('other', 'select count(*) from (select from switchyard.batches where id = ''1'' for update) x') as t(n int);
            select switchyard.forget();
            """)
        #expect(both.split(separator: "\n").filter { Int($0) != nil } == ["400", "0", "1", "400"])
    }

    @Test func `Commits forget as fast as they leave something behind`() async throws {
        let server = try await Self.filled()
        defer { server.stop() }
        // One in fifty commits forgets two hundred of each kind: after a few hundred all five hundred are gone.
        try await server.query(
            """
            do $$ begin
              for n in 1 .. 1000 loop
                perform public.switchyard_commit('b' || n, '[{"op": "set", "path": "posts/x", "data": {}}]');
                commit;
              end loop;
            end $$;
            """)
        #expect(try await Self.left(server) == "60500|59500")
    }
}

import Foundation
import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// How the functions come into a database, stay up to date there, and what a client says where they are not.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct InstallTests {
    private func install(on server: PostgresServer) async throws {
        let connection = try await server.connect()
        defer { connection.close() }
        try await connection.run(script: DocumentSchema.sql)
    }

    private func withSite(_ body: (PostgresServer, LocalSupabase) async throws -> Void) async throws {
        let server = try await PostgresServer()
        var options = LocalSupabaseOptions()
        options.database = server.place
        let supabase = try await LocalSupabase(options)
        do {
            try await body(server, supabase)
        } catch {
            await supabase.stop()
            server.stop()
            throw error
        }
        await supabase.stop()
        server.stop()
    }

    private func client(_ supabase: LocalSupabase, needed: Int = DocumentSchema.version) throws -> SyncedStorageClient {
        SyncedStorageClient(
            driver: SupabaseDriver(
                service: PostgRESTService(
                    project: try SupabaseProject(supabase.server.url),
                    tokens: SupabaseTokens(key: Secret(supabase.accessToken(for: "tester")), auth: nil),
                    transport: CurlTransport(), gate: SchemaCheck(needed: needed))))
    }

    private func problem(_ storage: any StorageClient) async -> SupabaseSchemaProblem? {
        do throws(StorageError) {
            _ = try await storage.document("posts/p1", from: .server)
            return nil
        } catch {
            #expect(error.code == .failedPrecondition)
            return error.underlying as? SupabaseSchemaProblem
        }
    }

    @Test func `An older version is brought up to date, twice changes nothing, and documents stay`() async throws {
        try await withSite { server, supabase in
            try await install(on: server)
            // What version 1 had left behind.
            try await server.query(
                """
                drop function public.switchyard_schema();
                alter table switchyard.settings drop column serves;
                update switchyard.settings set schema = 1;
                create function public.switchyard_schema() returns int language sql as 'select 1';
                insert into switchyard.documents (path, data, owner, created_at, updated_at)
                  values ('posts/p1', '{"n": 1}', 'tester', now(), now());
                """)
            let old = try client(supabase)
            #expect(await problem(old) == .tooOld(version: 1, needed: DocumentSchema.version))
            await old.shutDown()

            for _ in 1...2 {
                try await install(on: server)
                #expect(
                    try await server.query("select schema, serves from switchyard.settings")
                        == "\(DocumentSchema.version)|\(DocumentSchema.serves)")
            }
            let storage = try client(supabase)
            #expect(try await storage.document("posts/p1", from: .server).data?["n"] == 1)
            await storage.shutDown()
        }
    }

    /// What version 7 had where version 8 has something else.
    private static let olderByOne = """
        update switchyard.settings set schema = 7;
        alter table switchyard.settings drop column home, drop column lead;
        drop index switchyard.batches_age, switchyard.deletions_age;
        drop policy documents_read on switchyard.documents;
        drop function switchyard.home, switchyard.begin_epoch, switchyard.begin_writes, switchyard.allowed, switchyard.standing,
          switchyard.holder, switchyard.forget;
        alter table switchyard.rules drop constraint rules_read_check, drop constraint rules_write_check,
          add constraint rules_read_check check (read in ('none', 'owner', 'authenticated', 'public')),
          add constraint rules_write_check check (write in ('none', 'owner', 'authenticated', 'public'));
        create function switchyard.open_to_caller(deed text) returns text[] language sql as 'select array[]::text[]';
        create function switchyard.closed(deed text) returns text[] language sql as 'select array[]::text[]';
        create function switchyard.may_write(collection_id text, owner text) returns boolean language sql as 'select true';
        create function switchyard.forget() returns void language sql as '';
        create policy documents_read on switchyard.documents for select
          using (collection_id = any ((select switchyard.open_to_caller('read'))::text[]));
        set session_replication_role = replica;
        insert into switchyard.documents (path, data, owner, version, created_at, updated_at)
          values ('posts/p1', '{"n": 1}', 'tester', pg_current_xact_id(), now(), now()),
                 ('posts/p2', '{"n": 2}', 'tester', '900000000', now(), now());
        insert into switchyard.rules values ('posts', 'public', 'owner');
        """

    @Test func `Version 7 is brought up to date, with rows whose versions are ahead, and rules stay`() async throws {
        try await withSite { server, supabase in
            try await install(on: server)
            try await server.query(Self.olderByOne)
            for _ in 1...2 { try await install(on: server) }
            #expect(
                try await server.query(
                    """
                    select s.schema, s.home = switchyard.home(), s.lead > 800000000,
                      (select string_agg(r::text, ' ') from switchyard.rules r),
                      to_regclass('switchyard.batches_age') is not null, to_regproc('switchyard.may_write') is null
                    from switchyard.settings s
                    """) == "\(DocumentSchema.version)|t|t|(posts,public,owner)|t|t")
            let storage = try client(supabase)
            _ = try await storage.setDocument("posts/p3", ["n": 3]).acknowledged()
            #expect(try await storage.documents(Query(in: "posts"), from: .server).documents.count == 3)
            #expect(
                try await server.query(
                    "select count(*) from switchyard.documents d where d.version >= '900000001'::xid8") == "1")
            await storage.shutDown()
        }
    }

    @Test func `A newer version is left alone`() async throws {
        try await withSite { server, _ in
            try await install(on: server)
            try await server.query("update switchyard.settings set schema = 99, serves = 98")
            await #expect(throws: PostgresFailure.self) { try await install(on: server) }
            #expect(try await server.query("select schema, serves from switchyard.settings") == "99|98")
        }
    }

    @Test func `Two installations at once wait for each other`() async throws {
        try await withSite { server, _ in
            async let first: Void = install(on: server)
            async let second: Void = install(on: server)
            _ = try await (first, second)
            #expect(try await server.query("select count(*) from switchyard.settings") == "1")
        }
    }

    @Test func `Without the functions, reads say what to do and writes wait for them`() async throws {
        try await withSite { server, supabase in
            let storage = try client(supabase)
            #expect(await problem(storage) == .missing)
            let receipt = try await storage.setDocument("posts/p1", ["n": 1])
            try await install(on: server)
            // The next attempt of the queue finds them.
            try await storage.retryPendingWrites()
            _ = try await receipt.acknowledged()
            #expect(try await storage.document("posts/p1", from: .server).data?["n"] == 1)
            await storage.shutDown()
        }
    }

    @Test func `Functions that no longer serve this client are distinguished from old ones`() async throws {
        try await withSite { server, supabase in
            try await install(on: server)
            try await server.query("update switchyard.settings set schema = 99, serves = 98")
            let storage = try client(supabase)
            #expect(await problem(storage) == .tooNew(version: 99))
            await storage.shutDown()
            try await server.query("update switchyard.settings set serves = 1")
            let other = try client(supabase)
            #expect(await problem(other) == nil)
            await other.shutDown()
        }
    }
}

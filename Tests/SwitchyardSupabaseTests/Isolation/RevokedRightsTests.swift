import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// Whoever loses the right to see something sees it no longer, also where a live query showed it.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RevokedRightsTests {
    private static let pace = SupabaseWatch.Pace(
        alone: .milliseconds(20), hinted: .milliseconds(20), count: .milliseconds(60))

    private static func client(
        _ person: String, _ supabase: LocalSupabase, tables: TableMappings = .none
    ) throws -> SyncedStorageClient {
        let tokens = SupabaseTokens(key: Secret(supabase.accessToken(for: person)), auth: nil)
        return SyncedStorageClient(
            driver: SupabaseDriver(
                service: PostgRESTService(
                    project: try SupabaseProject(supabase.server.url), tokens: tokens, transport: CurlTransport()),
                tables: tables, pace: pace))
    }

    /// What a live query and a live document show at last.
    private final class Screen: Sendable {
        private let state = Mutex<(query: [String], document: Bool?)>(([], nil))
        private let tasks = Mutex<[Task<Void, any Error>]>([])

        init(_ client: SyncedStorageClient, _ query: Query, _ path: StoragePath) {
            // What was shown from the cache may be confirmed without any other change.
            let options = ListenOptions(includesMetadataChanges: true)
            let watching = [
                Task { [weak self] in
                    for try await snapshot in client.snapshots(of: query, options: options)
                    where !snapshot.metadata.isFromCache {
                        self?.state.withLock { $0.query = snapshot.documents.map(\.id) }
                    }
                },
                Task { [weak self] in
                    for try await snapshot in client.snapshots(of: path, options: options)
                    where !snapshot.metadata.isFromCache {
                        self?.state.withLock { $0.document = snapshot.exists }
                    }
                },
            ]
            tasks.withLock { $0 = watching }
        }

        func shows(_ query: [String], document: Bool) -> Bool {
            state.withLock { $0.query == query && ($0.document ?? false) == document }
        }

        /// Whether anything was delivered of the document.
        var hasDocument: Bool { state.withLock { $0.document != nil } }

        deinit { for task in tasks.withLock({ $0 }) { task.cancel() } }
    }

    private static func withSupabase(_ body: (LocalSupabase) async throws -> Void) async throws {
        let supabase = try await LocalSupabase.onSharedPostgres()
        do {
            let connection = try await supabase.database.connect()
            try await connection.run(script: DocumentSchema.sql)
            connection.close()
            try await body(supabase)
        } catch {
            await supabase.stop()
            throw error
        }
        await supabase.stop()
    }

    private static func run(_ sql: String, _ supabase: LocalSupabase) async throws {
        _ = try await supabase.database.run([PostgresStatement(sql)])
    }

    /// - Parameter isBusy: Whether somebody else's transaction is under way, so that the server cannot say since when a
    ///   document is gone.
    @Test(arguments: [false, true])
    func `Documents vanish from a live query when their collection is closed`(isBusy: Bool) async throws {
        try await Self.withSupabase { supabase in
            let other = try await supabase.database.connect()
            defer { other.close() }
            try await Self.run(
                "insert into switchyard.rules values ('wikis', 'authenticated', 'authenticated')", supabase)
            let (ann, ben) = (try Self.client("ann", supabase), try Self.client("ben", supabase))
            try await ann.setDocument("wikis/a", ["x": 1]).acknowledged()
            try await ben.setDocument("wikis/b", ["x": 1]).acknowledged()
            let screen = Screen(ben, Query(in: "wikis"), "wikis/a")
            try await eventually("both are there") { screen.shows(["a", "b"], document: true) }
            if isBusy { try await other.run(script: "begin; select pg_current_xact_id();") }
            try await Self.run("update switchyard.rules set read = 'owner'", supabase)
            try await eventually("only his own is there") { screen.shows(["b"], document: false) }
            // Nothing of it is left on the device for the next time: it is known to be missing, or not known at all.
            #expect(try await ben.documents(Query(in: "wikis"), from: .cache).documents.map(\.id) == ["b"])
            #expect((try? await ben.document("wikis/a", from: .cache))?.exists != true)
            for client in [ann, ben] { await client.shutDown() }
        }
    }

    @Test func `What was hidden is shown as it always was, when its reader may see it again or at last`() async throws {
        try await Self.withSupabase { supabase in
            try await Self.run("insert into switchyard.rules values ('wikis', 'owner', 'owner')", supabase)
            let (ann, ben) = (try Self.client("ann", supabase), try Self.client("ben", supabase))
            try await ann.setDocument("wikis/a", ["x": 1]).acknowledged()
            let screen = Screen(ben, Query(in: "wikis"), "wikis/a")
            try await eventually("it is missing") { screen.shows([], document: false) && screen.hasDocument }
            #expect(try await !ben.document("wikis/a", from: .server).exists)
            for _ in 0..<2 {
                try await Self.run("update switchyard.rules set read = 'authenticated'", supabase)
                try await eventually("it is there") { screen.shows(["a"], document: true) }
                #expect(try await ben.document("wikis/a", from: .server).data == ["x": 1])
                try await Self.run("update switchyard.rules set read = 'owner'", supabase)
                try await eventually("it is gone again") { screen.shows([], document: false) }
                #expect(try await !ben.document("wikis/a", from: .server).exists)
            }
            for client in [ann, ben] { await client.shutDown() }
        }
    }

    @Test func `Rows of a table vanish when somebody leaves the team`() async throws {
        try await Self.withSupabase { supabase in
            let connection = try await supabase.database.connect()
            try await connection.run(
                script: """
                    create table public.members (team text, person text);
                    grant select on public.members to authenticated;
                    create table public.team_notes (team text, id text, body text, primary key (team, id));
                    alter table public.team_notes enable row level security;
                    create policy members on public.team_notes to authenticated using
                      (exists (select from public.members m where m.team = team_notes.team and m.person = auth.jwt() ->> 'sub'));
                    grant all on public.team_notes to authenticated;
                    insert into public.members values ('red', 'ann'), ('red', 'ben');
                    """)
            connection.close()
            let tables = try TableMappings(
                [SupabaseTableMapping(collection: "teams/{team}/notes", table: "team_notes", columns: ["body"])])
            let ann = try Self.client("ann", supabase, tables: tables)
            let ben = try Self.client("ben", supabase, tables: tables)
            try await ann.setDocument("teams/red/notes/n", ["body": "x"]).acknowledged()
            let screen = Screen(ben, Query(in: "teams/red/notes"), "teams/red/notes/n")
            try await eventually("it is there") { screen.shows(["n"], document: true) }
            try await Self.run("delete from public.members where person = 'ben'", supabase)
            try await eventually("it is gone") { screen.shows([], document: false) }
            try await Self.run("insert into public.members values ('red', 'ben')", supabase)
            try await eventually("it is there again") { screen.shows(["n"], document: true) }
            #expect(try await ann.document("teams/red/notes/n", from: .server).exists)
            for client in [ann, ben] { await client.shutDown() }
        }
    }
}

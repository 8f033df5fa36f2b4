import Foundation
import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire

@testable import SwitchyardSupabase

/// A project as people have it: their own tables and policies, and nothing of this package installed.
struct TablesSite: Sendable {
    let supabase: LocalSupabase

    init(_ options: LocalSupabaseOptions = LocalSupabaseOptions()) async throws {
        supabase = try await LocalSupabase.onSharedPostgres(options)
        try await run(Self.sql)
    }

    static let shared = Task { try await TablesSite() }

    static let alice = "7d444840-9dc0-11d1-b245-5ffdce74fad2"
    static let bob = "0b4c9a10-9dc0-11d1-b245-5ffdce74fad2"

    static let sql = """
        create type public.mood as enum ('calm', 'glad', 'wild');
        create table public.lists (id uuid primary key default gen_random_uuid(), owner uuid not null, name text not null);
        create table public.todos (
          id uuid primary key default gen_random_uuid(), list uuid references public.lists on delete cascade,
          owner uuid not null default auth.uid(), title text not null, done bool not null default false, due date,
          at timestamptz default now(), n bigint not null default 0, price numeric(30,12), tags text[] not null default '{}',
          data jsonb, mood public.mood not null default 'calm');
        alter table public.lists enable row level security;
        alter table public.todos enable row level security;
        create policy own on public.lists for all to authenticated using (owner = auth.uid()) with check (owner = auth.uid());
        create policy own on public.todos for all to authenticated using (owner = auth.uid()) with check (owner = auth.uid());
        grant all on public.lists, public.todos to authenticated;
        create function public.tomorrow(day date) returns date language sql immutable as $$ select day + 1 $$;
        create function public.open_todos("from" bigint default 0) returns setof public.todos language sql stable
          as $$ select * from public.todos where not done and n >= "from" $$;
        """

    func run(_ sql: String) async throws {
        let connection = try await supabase.database.connect()
        defer { connection.close() }
        try await connection.run(script: sql)
    }

    /// The first value that a statement gives.
    func text(_ sql: String) async throws -> String? {
        let connection = try await supabase.database.connect()
        defer { connection.close() }
        return try await connection.run(script: sql).first?.text
    }

    /// A client of mapped tables in the name of a user.
    func storage(
        _ mappings: [SupabaseTableMapping], as user: String = alice, stateFolder: URL? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws -> any StorageClient {
        try await Device(self, user).storage(mappings, stateFolder: stateFolder, clock: clock)
    }

    /// What a device of a user needs to know of the project, also in a process of its own.
    struct Device: Sendable, Codable {
        let user, url, key, token: String
        /// How often it asks for changes without being told of one.
        var checkInterval = 0.05
        /// Its name among the processes that share a folder.
        var process: String?

        init(_ site: TablesSite, _ user: String = alice) {
            let supabase = site.supabase
            self.user = user
            (url, key, token) = (supabase.server.url, supabase.anonKey, supabase.accessToken(for: user))
        }

        func storage(
            _ mappings: [SupabaseTableMapping], stateFolder: URL? = nil, clock: any Clock<Duration> = ContinuousClock()
        ) async throws -> any StorageClient {
            let token = token
            let auth = FixedAuthClient(provider: .supabase, user: AuthUser.ID(user)) { _ in token }
            var configuration = SupabaseConfiguration(
                url: url, key: Secret(key), checkInterval: .seconds(checkInterval))
            configuration.tables = mappings
            configuration.usesDocumentTable = false
            // Otherwise the project announces what another process has written.
            if process != nil { configuration.realtime.mode = .off }
            return try await SupabaseModule(configuration).makeStorageClient(
                ModuleContext(
                    auth: auth, clock: clock, stateFolder: stateFolder, localFiles: LocalFileOptions(process: process)))
        }
    }

    /// The tables.
    static let mappings: [SupabaseTableMapping] = {
        var lists = SupabaseTableMapping(collection: "lists", table: "lists", columns: ["owner", "name"])
        lists.uuidColumns = ["id", "owner"]
        var todos = SupabaseTableMapping(
            collection: "todos", table: "todos", columns: ["list", "title", "done", "due", "tags", "mood", "n"])
        todos.uuidColumns = ["id", "list"]
        return [lists, todos]
    }()

    /// The tables in the name of a user.
    func tables(_ user: String = alice) async throws -> SupabaseTables {
        let supabase = supabase
        let auth = FixedAuthClient(provider: .supabase, user: AuthUser.ID(user)) { _ in supabase.accessToken(for: user)
        }
        let module = SupabaseModule(
            SupabaseConfiguration(url: supabase.server.url, key: Secret(supabase.anonKey)),
            transport: { CurlTransport() })
        let storage = try await SupabaseStorageAdapter(module.clientContext(ModuleContext(auth: auth)))
        return storage.tables
    }
}

/// A row of `todos`, with columns as an app has them.
struct TodoRow: Codable, Equatable, Sendable {
    enum Mood: String, Codable, Sendable { case calm, glad, wild }

    var id = UUID()
    var title: String
    var done = false
    var due: String?
    var n: Int64 = 0
    var tags: [String] = []
    var mood = Mood.calm
}

import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// What is left of an installation when it is removed, and of its parts.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SchemaRemovalTests {
    /// A database with the vendor's schemas.
    private func withDatabase(_ body: (PostgresServer) async throws -> Void) async throws {
        let server = try await PostgresServer()
        defer { server.stop() }
        var options = LocalSupabaseOptions()
        options.database = server.place
        await (try LocalSupabase(options)).stop()
        try await body(server)
    }

    /// All that a database has, with the rights to it.
    private static let catalog = """
        select string_agg(x::text, e'\\n' order by x::text) from (
          select 'function', p.oid::regprocedure::text, proacl::text from pg_proc p where p.pronamespace <> 'pg_catalog'::regnamespace
          union all select 'relation', c.oid::regclass::text, c.relacl::text from pg_class c
            where c.relnamespace not in ('pg_catalog'::regnamespace, 'pg_toast'::regnamespace)
          union all select 'policy', p.polname || ' on ' || p.polrelid::regclass, p.polroles::text from pg_policy p
          union all select 'trigger', t.tgname || ' on ' || t.tgrelid::regclass, null from pg_trigger t
          union all select 'constraint', k.conname, k.conrelid::regclass::text from pg_constraint k
          union all select 'schema', n.nspname, n.nspacl::text from pg_namespace n where n.nspname !~ '^pg_(toast_)?temp'
          union all select 'type', t.oid::regtype::text, t.typacl::text from pg_type t
            where t.typnamespace not in ('pg_catalog'::regnamespace, 'pg_toast'::regnamespace)
          union all select 'publication', r.prrelid::regclass::text, null from pg_publication_rel r
          union all select 'right', a.defaclobjtype::text, a.defaclacl::text from pg_default_acl a) x
        """

    private func parts(_ server: PostgresServer) async throws -> String {
        try await server.query("select array_to_string(s.parts, ' ') from switchyard.settings s")
    }

    @Test(arguments: SchemaInventoryTests.choices)
    func `After the removal of everything the database is as it was before`(installed: Set<SchemaPart>) async throws {
        try await withDatabase { server in
            let before = try await server.query(Self.catalog)
            try await server.query(DocumentSchema.installation(of: installed))
            if installed.contains(.documents) {
                try await server.query("select switchyard.create_index('posts', '[[[\"score\"], \"asc\"]]')")
            }
            let installation = try await server.query(Self.catalog)
            #expect(installation != before)
            // A trial reports the same, and changes nothing.
            let trial = try await server.query(DocumentSchema.removal(isTrial: true))
            #expect(try await server.query(Self.catalog) == installation)
            #expect(try await server.query(DocumentSchema.removal()) == trial)
            #expect(trial.hasSuffix("schema|switchyard"))
            #expect(try await server.query(Self.catalog) == before)
            #expect(try await server.query(DocumentSchema.removal()) == "")
        }
    }

    @Test func `What a removal lists is what the list of an installation has`() async throws {
        try await withDatabase { server in
            try await server.query(DocumentSchema.installation(of: Set(SchemaPart.allCases)))
            let removed = try await server.query(DocumentSchema.removal()).split(separator: "\n").map { line in
                String(line.replacing("|", with: " ").prefix { $0 != "(" })
            }
            let kinds: Set<SchemaObject.Kind> = [.function, .aggregate, .table, .policy, .trigger]
            let listed = SchemaInventory.all.objects.filter { kinds.contains($0.kind) }.map { "\($0.kind) \($0.name)" }
            #expect(Set(removed) == Set(listed).union(["schema switchyard"]))
        }
    }

    @Test func `Parts come and go one by one, with those that cannot do without them`() async throws {
        try await withDatabase { server in
            let before = try await server.query(Self.catalog)
            for part in SchemaPart.allCases {
                try await server.query(DocumentSchema.installation(of: [part]))
                let missing = try await server.query("select missing from switchyard.missing()")
                #expect(missing == "", "with \(part)")
            }
            #expect(try await parts(server) == "documents domain messages rows")
            let ann = try await SQLCaller("ann", on: server)
            defer { ann.close() }
            try await ann.commit(#"{"op": "set", "path": "users/ann", "data": {}}"#)

            try await server.query(DocumentSchema.removal(of: [.rows]))
            #expect(try await parts(server) == "documents domain messages")
            try await server.query(DocumentSchema.removal(of: [.domain]))
            #expect(try await parts(server) == "documents messages")
            #expect(try await server.query("select count(*) from switchyard.rules") == "0")
            try await ann.commit(#"{"op": "set", "path": "users/ann/notes/1", "data": {}}"#)
            #expect(try await server.query("select missing from switchyard.missing()") == "")

            try await server.query(DocumentSchema.installation(of: [.domain]))
            try await server.query(DocumentSchema.removal(of: [.documents]))
            #expect(try await parts(server) == "messages")
            #expect(try await server.query("select missing from switchyard.missing()") == "")
            #expect(await ann.failure("select public.switchyard_get('{}')") == "42883")
            #expect(try await ann.text("select public.switchyard_messages('[]')") == "[]")
            try await server.query(DocumentSchema.removal(of: [.messages]))
            #expect(try await server.query(Self.catalog) == before)
        }
    }

    @Test func `A rule that goes with its part leaves nothing open, also where it was one of two`() async throws {
        try await withDatabase { server in
            try await server.query(DocumentSchema.installation(of: [.domain]))
            try await server.query(
                "update switchyard.rules set write = 'authenticated' where collection_id = 'checkIns'; insert into switchyard.rules values ('posts', 'public', 'owner')"
            )
            try await server.query(DocumentSchema.removal(of: [.domain]))
            #expect(
                try await server.query("select * from switchyard.rules order by 1")
                    == "checkIns|none|authenticated\nposts|public|owner")
        }
    }

    @Test func `Retained data are accessible to the owner only, and available again after an installation`()
        async throws
    {
        try await withDatabase { server in
            let before = try await server.query(Self.catalog)
            try await server.query(DocumentSchema.installation(of: [.documents, .domain, .messages]))
            let ann = try await SQLCaller("ann", on: server)
            defer { ann.close() }
            try await ann.commit(#"{"op": "set", "path": "notes/1", "data": {"n": 1}}"#)
            try await server.query("select switchyard.create_index('notes', '[[[\"n\"], \"asc\"]]')")
            try await server.query(DocumentSchema.removal(keepingData: true))

            let functions = try await server.query(
                "select p.proname from pg_proc p where p.proname like 'switchyard%' or p.pronamespace = 'switchyard'::regnamespace"
            )
            // A column is made by it.
            #expect(functions == "place")
            for statement in ["select * from switchyard.documents", "select switchyard.place('a/b')"] {
                #expect(await ann.failure(statement) == "42501")
            }
            // The owner can still write.
            try await server.query(
                "insert into switchyard.documents (path, data, owner, created_at, updated_at) values ('notes/2', '{\"n\": 2}', 'ann', now(), now())"
            )
            try await server.query(DocumentSchema.installation(of: [.documents]))
            #expect(try await server.query("select missing from switchyard.missing()") == "")
            #expect(
                try await ann.text(
                    "select jsonb_array_length(public.switchyard_get('{notes/1,notes/2}') -> 'documents')") == "2")
            try await server.query(DocumentSchema.removal())
            #expect(try await server.query(Self.catalog) == before)
        }
    }

    /// What versions 9 to 11 had in place of what there is now; the earlier of them had functions of these names with other arguments.
    private static let earlier = """
        drop trigger rules_rights on switchyard.rules;
        drop trigger settings_rights on switchyard.settings;
        drop policy documents_domain on switchyard.documents;
        drop policy documents_read on switchyard.documents;
        drop function switchyard.set_rights, switchyard.rights, switchyard.access;
        alter table switchyard.settings drop column parts, drop column anon;
        create policy documents_read on switchyard.documents for select
          using (switchyard.domain_reads(path, data, owner, (select switchyard.caller())));
        create function switchyard.is_contact(person text, contact text, is_responder boolean) returns boolean
          language sql stable security definer as 'select true';
        create function switchyard.is_blocked(person text, other text) returns boolean language sql as 'select true';
        create function switchyard.readable(is_gone boolean default false) returns text language sql as 'select text ''true''';
        create function switchyard.client_functions() returns text[] language sql as 'select array[]::text[]';
        create function switchyard.channel_policies() returns table (name text) language sql as 'values (text ''x'')';
        create function switchyard.access_indexes() returns table (name text, place text) language sql as 'values (text ''x'', text ''y'')';
        create function switchyard.query_sql(query jsonb, access text) returns text language sql as 'select access';
        create function switchyard.query_sql(query jsonb) returns text language sql as 'select text ''x''';
        create function switchyard.clauses(query jsonb) returns text language sql as 'select text ''x''';
        create function switchyard.answer(documents jsonb, newest timestamptz) returns jsonb language sql as 'select documents';
        create function switchyard.plus(a double precision, b double precision) returns double precision language sql as 'select a + b';
        create aggregate switchyard.total(double precision) (sfunc = switchyard.plus, stype = double precision);
        create function switchyard.recall(batch text) returns jsonb language sql security definer as 'select null::jsonb';
        create function switchyard.people_seen() returns text[] language sql security definer as 'select array[]::text[]';
        create function switchyard.realtime_policies() returns table (name text) language sql as 'values (text ''x'')';
        create function switchyard.document_json(d switchyard.documents, fields jsonb) returns jsonb language sql as 'select fields';
        """

    @Test(arguments: RunSize.full([9, 10, 11], part: [10]))
    func `An earlier version is removed, or brought up to date with all that it had`(version: Int) async throws {
        try await withDatabase { server in
            let before = try await server.query(Self.catalog)
            let fill = "update switchyard.settings set schema = \(version); \(Self.earlier)"
            try await server.query(DocumentSchema.installation(of: Set(SchemaPart.allCases)))
            try await server.query(fill)
            // Its documents ask for the rule by themselves.
            await #expect(throws: PostgresServer.Failure.self) {
                try await server.query(DocumentSchema.removal(of: [.domain]))
            }
            try await server.query(DocumentSchema.removal())
            #expect(try await server.query(Self.catalog) == before)

            try await server.query(DocumentSchema.installation(of: Set(SchemaPart.allCases)))
            try await server.query(fill)
            // One part beside the others, which stay as they are.
            if version < DocumentSchema.version {
                await #expect(throws: PostgresServer.Failure.self) {
                    try await server.query(DocumentSchema.installation(of: [.messages]))
                }
                try await server.query(DocumentSchema.installation(of: [.documents, .messages]))
            }
            for _ in 1...2 { try await server.query(DocumentSchema.installation(of: [.messages])) }
            let ann = try await SQLCaller("ann", on: server)
            defer { ann.close() }
            try await ann.commit(#"{"op": "set", "path": "notes/1", "data": {}}"#)
            for _ in 1...2 { try await server.query(DocumentSchema.installation(of: [.documents])) }
            try await ann.commit(#"{"op": "set", "path": "users/ann", "data": {"n": 1}}"#)
            #expect(try await server.query("select missing from switchyard.missing(true)") == "")
            #expect(try await parts(server) == "documents domain messages rows")
            try await server.query(DocumentSchema.installation(of: [.domain, .messages, .rows]))
            #expect(try await server.query("select missing from switchyard.missing(true)") == "")
            #expect(
                try await server.query("select schema, anon from switchyard.settings") == "\(DocumentSchema.version)|t")
            let functions = SchemaInventory.all.objects.filter { $0.callers != nil }.map(\.name).sorted()
            let found = try await server.query(
                """
                select n.nspname || '.' || p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace
                where n.nspname = 'switchyard' or p.proname like 'switchyard\\_%'
                """)
            #expect(found.split(separator: "\n").map(String.init).sorted() == functions, "nothing earlier is left")
            try await server.query(DocumentSchema.removal())
            #expect(try await server.query(Self.catalog) == before)
        }
    }

    @Test func `A newer version, and what the project built on a table, are left alone`() async throws {
        try await withDatabase { server in
            try await server.query(DocumentSchema.installation(of: [.documents]))
            try await server.query("create view public.notes as select path from switchyard.documents")
            await #expect(throws: PostgresServer.Failure.self) { try await server.query(DocumentSchema.removal()) }
            #expect(try await parts(server) == "documents")
            try await server.query("drop view public.notes; update switchyard.settings set schema = 99")
            await #expect(throws: PostgresServer.Failure.self) { try await server.query(DocumentSchema.removal()) }
            #expect(try await parts(server) == "documents")
        }
    }
}

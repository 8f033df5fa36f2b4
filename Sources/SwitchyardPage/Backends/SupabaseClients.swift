import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardProviderHTTP
import SwitchyardServerKit
import SwitchyardSupabase

/// The clients of a local Supabase, with each table of the project as a collection, and each bucket as a folder.
actor SupabaseClients: ClientsSource {
    /// What of the project decides about the clients.
    struct Shape: Equatable, Sendable {
        var tables: [SupabaseTableMapping] = []
        var buckets: [SupabaseBucket] = []
        var hasDocuments = true
    }

    private let supabase: LocalSupabase
    private let mark: String
    private var shape: Shape?
    private var current: PageClients?
    private let refreshes = AsyncSerialQueue()

    init(_ supabase: LocalSupabase, mark: String) {
        self.supabase = supabase
        self.mark = mark
    }

    func clients() async throws -> PageClients {
        if let current { return current }
        try await refresh()
        guard let current else { throw PageFailure(503, "shutDown", "The page has stopped.") }
        return current
    }

    /// The table that a collection is.
    func table(of path: CollectionPath) -> SupabaseTableMapping? {
        shape?.tables.first { $0.collection == path.rawValue }
    }

    /// Of the documents as the database says it, and of the tables those that the persona may read.
    func collections(
        under parent: StoragePath?, as persona: Persona
    ) async throws -> [(path: CollectionPath, isTable: Bool)] {
        let sql =
            shape?.hasDocuments == false
            ? "select '[]'" : "select coalesce(public.switchyard_collections($1)::text, '[]')"
        let tables = parent == nil ? shape?.tables ?? [] : []
        let readable = """
            select coalesce(jsonb_agg(n), '[]')::text from unnest($1::text[]) n
            where has_table_privilege(n, 'select') or has_any_column_privilege(n, 'select')
            """
        let names = tables.map { PolicyTrial.quoted($0.schema) + "." + PolicyTrial.quoted($0.table) }
        let list = "{" + names.map { JSON.string($0).text() }.joined(separator: ",") + "}"
        do throws(PostgresFailure) {
            let token = SupabaseSide.token(of: persona, supabase)
            let results = try await supabase.database.run(
                [
                    PostgresStatement(sql, shape?.hasDocuments == false ? [] : [parent?.rawValue]),
                    PostgresStatement(readable, [list]),
                ], as: token, readOnly: true)
            let found = results[0].text.flatMap { try? JSON(parsing: $0) }?.array ?? []
            let seen = results[1].text.flatMap { try? JSON(parsing: $0) }?.array?.compactMap(\.string) ?? []
            var collections = found.compactMap(\.string).compactMap { name -> (path: CollectionPath, isTable: Bool)? in
                let text = name.contains("/") || parent == nil ? name : "\(parent?.rawValue ?? "")/\(name)"
                return (try? CollectionPath(validating: text)).map { ($0, false) }
            }
            for (table, name) in zip(tables, names) where seen.contains(name) {
                guard let path = try? CollectionPath(validating: table.collection) else { continue }
                collections.append((path, true))
            }
            return collections.sorted { $0.path.rawValue < $1.path.rawValue }
        } catch {
            throw PageFailure(403, "unauthorized", "The database says: \(error.message)")
        }
    }

    func refresh() async throws {
        let found = try await Self.shape(of: supabase)
        if found == shape, current != nil { return }
        let made = try await make(found)
        // Another call may have been faster.
        if found == shape, let current, current !== made {
            await made.shutDown()
            return
        }
        let former = current
        shape = found
        current = made
        await former?.shutDown()
    }

    var hasFiles: Bool { shape?.buckets.isEmpty == false }

    func shutDown() async {
        let last = current
        current = nil
        await last?.shutDown()
    }

    private func make(_ shape: Shape) async throws -> PageClients {
        var configuration = SupabaseConfiguration(
            url: supabase.server.url, key: Secret(supabase.anonKey), serviceKey: Secret(supabase.serviceKey))
        configuration.tables = shape.tables
        configuration.buckets = shape.buckets
        configuration.usesDocumentTable = shape.hasDocuments
        configuration.keepsDocuments = false
        let mark = mark
        let supabase = supabase
        let module = SupabaseModule(configuration) {
            MarkedTransport(base: PlatformTransport.make(), mark: mark)
        }
        configuration.serviceKey = nil
        let keyless = SupabaseModule(configuration) { MarkedTransport(base: PlatformTransport.make(), mark: mark) }
        var wanted = InfrastructureSelection(default: .supabase)
        if shape.buckets.isEmpty { wanted.omit(.files) }
        let selection = wanted
        let infrastructure = try await InfrastructureFactory(module).make(selection)
        return try await PageClients(
            infrastructure,
            acting: { user, infrastructure in
                let token = supabase.accessToken(
                    for: user.id, claims: user.claims, assurance: user.assurance ?? "aal1")
                return try await PageClients.pair(token, of: user, .supabase, infrastructure)
            },
            device: { () async throws(InfrastructureError) in
                // With a service key, a client that no one is signed in with has the rights of the project.
                try await InfrastructureFactory(keyless).make(selection)
            })
    }

    // MARK: The shape

    private static let sql = """
        select jsonb_build_object(
          'documents', to_regclass('switchyard.documents') is not null,
          'buckets', coalesce((select jsonb_agg(jsonb_build_object('id', b.id, 'public', b.public) order by b.id)
            from storage.buckets b), '[]'),
          'tables', coalesce((select jsonb_agg(jsonb_build_object('schema', n.nspname, 'name', c.relname,
              'id', k.attname, 'generates', k.attidentity <> '' or coalesce(pg_get_expr(d.adbin, d.adrelid), '') like '%nextval(%',
              'columns', (select jsonb_object_agg(a.attname, format_type(a.atttypid, a.atttypmod))
                from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped))
              order by n.nspname, c.relname)
            from pg_class c join pg_namespace n on n.oid = c.relnamespace
              join pg_index i on i.indrelid = c.oid and i.indisprimary and i.indnkeyatts = 1
              join pg_attribute k on k.attrelid = c.oid and k.attnum = i.indkey[0]
              left join pg_attrdef d on d.adrelid = c.oid and d.adnum = k.attnum
            where n.nspname = any ($1::text[]) and c.relkind in ('r', 'p')), '[]'))::text
        """

    private static func shape(of supabase: LocalSupabase) async throws(PageFailure) -> Shape {
        let results: [PostgresResult]
        do throws(PostgresFailure) {
            results = try await supabase.database.run([
                PostgresStatement(sql, ["{" + supabase.schemas.joined(separator: ",") + "}"])
            ])
        } catch {
            throw PageFailure(503, "unavailable", "The database says: \(error.message)")
        }
        guard let text = results[0].text, let json = try? JSON(parsing: text) else { return Shape() }
        var shape = Shape()
        shape.hasDocuments = json["documents"]?.bool ?? true
        shape.buckets = (json["buckets"]?.array ?? []).compactMap { bucket in
            bucket["id"]?.string.map { SupabaseBucket($0, isPublic: bucket["public"]?.bool ?? false) }
        }.filter { bucket in isValid(supabase) { $0.buckets = [bucket] } }
        shape.tables = (json["tables"]?.array ?? []).compactMap {
            mapping($0, first: supabase.schemas.first ?? "public")
        }.filter { table in isValid(supabase) { $0.tables = [table] } }
        return shape
    }

    /// Whether clients can have it: a table or a bucket may have a name that no collection or folder has.
    private static func isValid(
        _ supabase: LocalSupabase, _ change: (inout SupabaseConfiguration) -> Void
    ) -> Bool {
        var configuration = SupabaseConfiguration(url: supabase.server.url, key: Secret(supabase.anonKey))
        change(&configuration)
        return (try? SupabaseModule(configuration).validate()) != nil
    }

    private static func mapping(_ json: JSON, first: String) -> SupabaseTableMapping? {
        guard let name = json["name"]?.string, let schema = json["schema"]?.string, let id = json["id"]?.string,
            let columns = json["columns"]?.object
        else { return nil }
        var mapping = SupabaseTableMapping(
            collection: schema == first ? name : "\(schema).\(name)", table: name,
            columns: columns.keys.filter { $0 != id })
        mapping.schema = schema
        mapping.idColumn = id
        for column in columns {
            mapping.columnTypes[column.key] = column.value.string.map { SupabaseColumnType(rawValue: $0) }
        }
        mapping.generatesIDs = json["generates"]?.bool ?? false
        return mapping
    }
}

import SwitchyardServerKit

/// The database of a real Supabase project: its own services have set it up and go on using it, and a local server would replace
/// their functions, triggers and indexes.
enum ForeignProject {
    /// Where the real services record which of their migrations have run. A local server has no such tables.
    private static let ledgers = [
        ("auth", "schema_migrations"), ("storage", "migrations"), ("realtime", "schema_migrations"),
        ("_realtime", "schema_migrations"),
    ]

    /// - Throws: A `LocalSupabaseError` for such a database, of which nothing has been changed then.
    static func refuse(_ name: String, port: UInt16, on connection: PostgresConnection) async throws {
        // Needs no rights in those schemas.
        let list = ledgers.map { "('\($0.0)', '\($0.1)')" }.joined(separator: ", ")
        let found = try await connection.run([
            PostgresStatement(
                """
                select string_agg(n.nspname || '.' || c.relname, ', ' order by n.nspname) from pg_catalog.pg_class c
                join pg_catalog.pg_namespace n on n.oid = c.relnamespace
                where (n.nspname, c.relname) in (\(list))
                """)
        ])[0].text
        guard let found else { return }
        throw LocalSupabaseError(
            "The database “\(name)” on port \(port) is that of a real Supabase project: its services keep their migrations in "
                + "\(found). A local Supabase would change what belongs to them, so nothing was done. Use another database, such "
                + "as a new one, or start without one (--database): then it has its own.")
    }
}

import SwitchyardServerKit
import SwitchyardSupabase

/// What a database on this machine says of itself, with the rights of its owner.
struct DatabaseProbe: Sendable {
    private let settings: SupabaseConfiguration
    private let address: DatabaseAddress
    private let findings: Findings

    init(_ settings: SupabaseConfiguration, _ address: DatabaseAddress, _ findings: Findings) {
        self.settings = settings
        self.address = address
        self.findings = findings
    }

    func run() async {
        do throws(PostgresFailure) {
            let connection = try await PostgresConnection(
                port: address.port, user: address.user, database: address.name)
            defer { connection.close() }
            if settings.usesDocumentTable { try await checkMissing(connection) }
            for table in settings.tables { try await check(table, connection) }
        } catch {
            findings.add(
                .wrong(
                    "database", error.cured(role: address.user, database: address.name),
                    cure: "check “--database”, or leave it out"))
        }
    }

    private func rows(_ sql: String, _ connection: PostgresConnection) async throws(PostgresFailure) -> [[String]] {
        let rows = try await connection.run(script: sql).last?.rows ?? []
        return rows.map { row in row.map { String(decoding: $0 ?? [], as: UTF8.self) } }
    }

    private func checkMissing(_ connection: PostgresConnection) async throws(PostgresFailure) {
        let isThere = try await rows(
            "select to_regprocedure('switchyard.missing(boolean)') is not null", connection)
        guard isThere.first?.first == "t" else { return }
        let missing = try await rows("select * from switchyard.missing()", connection)
        if missing.isEmpty { findings.add(.fine("database", "nothing of the installation is missing")) }
        for part in missing where part.count == 3 {
            findings.add(.wrong("database", "missing: \(part[0])", cure: "\(part[1])\n-- as \(part[2])"))
        }
    }

    private func check(
        _ table: SupabaseTableMapping, _ connection: PostgresConnection
    ) async throws(PostgresFailure) {
        func literal(_ text: String) -> String {
            "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
        }
        let (schema, name) = (literal(table.schema), literal(table.table))
        let facts = try await rows(
            """
            select c.relrowsecurity, (select count(*) from pg_policy p where p.polrelid = c.oid),
              exists (select from pg_publication_tables t where t.pubname = 'supabase_realtime'
                and t.schemaname = n.nspname and t.tablename = c.relname),
              exists (select from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey)
                where i.indrelid = c.oid and i.indisunique and a.attname = \(literal(table.idColumn)))
            from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = \(schema) and c.relname = \(name)
            """, connection)
        guard let row = facts.first, row.count == 4 else {
            findings.add(
                .wrong("table \(table.table)", "\(table.sqlName) is not in this database", cure: "correct “tables”"))
            return
        }
        let policies = "policies \(table.table)"
        if row[0] != "t" {
            findings.add(
                .wrong(
                    policies, "row-level security is off: everyone with the key may read and write all rows",
                    cure: "alter table \(table.sqlName) enable row level security;"))
        } else if row[1] == "0" {
            findings.add(.wrong(policies, "there are none, so no one sees or writes a row", cure: Self.policy(table)))
        } else {
            findings.add(.fine(policies, row[1]))
        }
        if row[2] != "t" {
            findings.add(
                .wrong(
                    "publication \(table.table)", "live queries are not notified of changes, and check every second",
                    cure: "alter publication supabase_realtime add table \(table.sqlName);"))
        } else {
            findings.add(.fine("publication \(table.table)", "live queries are notified of changes"))
        }
        if row[3] != "t" {
            findings.add(
                .wrong(
                    "index \(table.table)", "“\(table.idColumn)” has no unique index",
                    cure: "create unique index on \(table.sqlName) (\(SupabaseTableMapping.quoted(table.idColumn)));"))
        } else {
            findings.add(.fine("index \(table.table)", "“\(table.idColumn)” is unique"))
        }
    }

    /// A policy to begin with.
    static func policy(_ table: SupabaseTableMapping) -> String {
        "create policy own on \(table.sqlName) to authenticated using (owner = (select auth.uid())) with check (owner = (select auth.uid()));\n"
            + "-- or, for a table that everyone who is signed in shares: using (true) with check (true)"
    }
}

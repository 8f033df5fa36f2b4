import SwitchyardServerKit
import SwitchyardSupabase

/// `switchyard supabase uninstall`
struct SupabaseRemoval {
    private let destination: SQLDestination
    /// Without any, everything.
    private let parts: Set<SchemaPart>
    private let keepsData: Bool
    /// Whether not to ask.
    private let isSure: Bool

    init(_ words: [String]) throws(UsageError) {
        let options = try Options(words, of: Commands.named("supabase uninstall"))
        parts = options.parts
        keepsData = options.has("--keep-data")
        isSure = options.has("--yes")
        destination = try SQLDestination(options, of: "uninstall")
        guard !isSure || !options.has("--print") else {
            throw UsageError("“--yes” goes with “--database”: “--print” does not ask")
        }
    }

    func run() async -> ExitStatus {
        guard case .database(let database) = destination else {
            let sql = DocumentSchema.removal(of: parts, keepingData: keepsData)
            Terminal.print(destination.printed(announcement + sql) ?? "")
            return .success
        }
        do throws(PostgresFailure) {
            let connection = try await PostgresConnection(
                port: database.port, user: database.user, database: database.name)
            defer { connection.close() }
            return try await remove(from: database, by: connection)
        } catch {
            Terminal.error("switchyard supabase: " + error.cured(role: database.user, database: database.name))
            return .failure
        }
    }

    private func remove(
        from database: DatabaseAddress, by connection: PostgresConnection
    ) async throws(PostgresFailure) -> ExitStatus {
        let name = "“\(database.name)” on port \(database.port)"
        let found = try await removed(connection, isTrial: true)
        guard !found.isEmpty else {
            Terminal.print("\(name) has nothing of this to remove.")
            return .success
        }
        Terminal.print("To be removed from \(name):\n\n" + found.map { "- \($0)" }.joined(separator: "\n") + "\n")
        Terminal.print(keepsData ? "Tables stay, with their contents." : "The contents of tables go with them.")
        guard isSure || agrees() else {
            Terminal.error("switchyard supabase: nothing was removed.")
            return .failure
        }
        let count = try await removed(connection, isTrial: false).count
        Terminal.print("Removed: \(count).")
        return .success
    }

    /// What the SQL lists.
    private func removed(
        _ connection: PostgresConnection, isTrial: Bool
    ) async throws(PostgresFailure) -> [String] {
        let sql = DocumentSchema.removal(of: parts, keepingData: keepsData, isTrial: isTrial)
        let rows = try await connection.run(script: sql).last { !$0.rows.isEmpty }?.rows ?? []
        return rows.map { row in row.map { String(decoding: $0 ?? [], as: UTF8.self) }.joined(separator: " ") }
    }

    private func agrees() -> Bool {
        Terminal.print("Type “yes” to remove it (“--yes” says so in a script):")
        return readLine() == "yes"
    }

    /// As comments before the SQL.
    private var announcement: String {
        let wanted = parts.isEmpty ? Set(SchemaPart.allCases) : parts.withDependents
        let kept: Set<SchemaObject.Kind> = keepsData ? [.grant, .table, .index] : [.grant]
        let objects = SchemaInventory.all.objects(of: wanted).filter { object in
            !kept.contains(object.kind) && (object.part != nil || parts.isEmpty)
        }
        return "-- Removes, as far as it is there:\n"
            + objects.map { "--   \($0.kind) \($0.name)" }.joined(separator: "\n")
            + (parts.isEmpty ? "\n" : "\n-- and with the last part what every part needs.\n")
    }
}

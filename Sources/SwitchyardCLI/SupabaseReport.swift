import SwitchyardServerKit

/// Something that an installation could not add to the database.
struct MissingPart {
    let name: String
    let statement: String
    let role: String

    /// Whether an index is to be built, which takes its time.
    var isIndex: Bool { name.hasPrefix("the index ") }

    init(_ row: [[UInt8]?]) {
        func text(_ index: Int) -> String {
            row.indices.contains(index) ? row[index].map { String(decoding: $0, as: UTF8.self) } ?? "" : ""
        }
        (name, statement, role) = (text(0), text(1), text(2))
    }

    static func report(_ parts: [MissingPart], role: String) -> String {
        let list = parts.map { part in
            "- \(part.name)\n  To be run by \(part.role):\n\n  \(part.statement)\n"
        }
        return """
            switchyard supabase: The installation is incomplete: the role “\(role)” may not create the following.

            \(list.joined(separator: "\n"))
            Run the installation again when that is done; it lists what is still missing.
            """
    }
}

extension PostgresFailure {
    /// What PostgreSQL says, and for a missing right the statement that grants it.
    func cured(role: String, database: String) -> String {
        let text = "\(message) (\(code))" + (hint.map { "\n\($0)" } ?? "")
        guard code == "42501", let statement = grant(role: role, database: database) else { return text }
        return "\(text)\nTo be run by an administrator of the database:\n\n  \(statement)\n"
    }

    private func grant(role: String, database: String) -> String? {
        func quoted(_ name: some StringProtocol) -> String {
            "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
        }
        if message.hasPrefix("permission denied for database ") {
            return "grant create on database \(quoted(database)) to \(quoted(role));"
        }
        let schemas = "permission denied for schema "
        if message.hasPrefix(schemas) {
            let schema = message.dropFirst(schemas.count)
            return "grant usage, create on schema \(quoted(schema)) to \(quoted(role));"
        }
        if message.hasPrefix("must be owner of ") || message.hasPrefix("must be member of role ") {
            // All objects of an installation belong to the role that created the schema.
            let literal = role.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
            return """
                do $$ begin execute format('grant %I to %I',
                  (select pg_get_userbyid(nspowner) from pg_namespace where nspname = 'switchyard'), '\(literal)'); end $$;
                """
        }
        if message == "permission denied to create role" {
            return
                "create role anon nologin; create role authenticated nologin; create role service_role nologin bypassrls;"
        }
        return nil
    }
}

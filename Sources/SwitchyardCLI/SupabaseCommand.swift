import SwitchyardServerKit
import SwitchyardSupabase

/// `switchyard supabase install`
struct SupabaseCommand {
    /// `nil` to print the SQL.
    private let database: DatabaseAddress?
    /// Whether to include the rules for the domain clients.
    private let hasDomain: Bool
    /// Whether the printed SQL is for an editor, which has no commands of `psql`.
    private let isForEditor: Bool

    init(_ words: [String]) throws(UsageError) {
        guard words.first == "install" else {
            throw UsageError(
                words.first.map { "there is no “supabase \($0)”; there is “supabase install”" }
                    ?? "what about Supabase? There is “supabase install”")
        }
        let options = try Options(
            Array(words.dropFirst()), values: ["--database"], switches: ["--print", "--editor", "--domain"])
        guard !options.has("--editor") || options.has("--print") else {
            throw UsageError("“--editor” goes with “--print”")
        }
        guard options.has("--print") != (options["--database"] != nil) else {
            throw UsageError("“supabase install” needs either “--print” or “--database”")
        }
        hasDomain = options.has("--domain")
        isForEditor = options.has("--editor")
        database = try options["--database"].map { (text) throws(UsageError) in try DatabaseAddress(text) }
    }

    func run() async -> ExitStatus {
        guard let database else {
            // Without this, psql goes on after an error, and ends as if all were well.
            let first = isForEditor ? "" : "\\set ON_ERROR_STOP on\n"
            Terminal.print(first + DocumentSchema.installation(domain: hasDomain))
            return .success
        }
        do throws(PostgresFailure) {
            let connection = try await PostgresConnection(
                port: database.port, user: database.user, database: database.name)
            defer { connection.close() }
            let results = try await connection.run(script: DocumentSchema.installation(domain: hasDomain))
            Terminal.print(
                "“\(database.name)” on port \(database.port) has version \(DocumentSchema.version) of the functions.")
            var missing = (results.last?.rows ?? []).map(MissingPart.init)
            // Each in a transaction of its own, for that is how an index is built beside others' work.
            let indexes = missing.filter(\.isIndex)
            for index in indexes {
                Terminal.print("Building \(index.name.prefix { $0 != "," }) …")
                _ = try await connection.run(script: index.statement)
            }
            missing.removeAll(where: \.isIndex)
            guard !missing.isEmpty else { return .success }
            Terminal.error(MissingPart.report(missing, role: database.user))
            return .failure
        } catch {
            Terminal.error("switchyard supabase: " + error.cured(role: database.user, database: database.name))
            return .failure
        }
    }
}

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
            switchyard supabase: what is there is not everything that belongs to it, and “\(role)” could not add the rest.

            \(list.joined(separator: "\n"))
            Run the installation again when that is done; it says what is missing still.
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
            // What an installation owns has one owner: whoever made the schema.
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

/// `postgresql://user@127.0.0.1:5432/name`, of a database on this machine that trusts its users.
struct DatabaseAddress: Equatable {
    var user = "postgres"
    var port: UInt16 = 5432
    var name = "postgres"

    init(_ text: String) throws(UsageError) {
        guard let start = ["postgresql://", "postgres://"].first(where: text.hasPrefix) else {
            throw UsageError("“--database” wants an address such as postgresql://postgres@127.0.0.1:5432/postgres")
        }
        let rest = text.dropFirst(start.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let path = rest.dropFirst(authority.count)
        let elsewhere = UsageError(
            "“--database” is for databases on this machine that ask for no password; for others run "
                + "“switchyard supabase install --print | psql ADDRESS”, or paste what “--print --editor” prints into the dashboard's editor"
        )
        guard !path.contains("?") else { throw elsewhere }
        var host = authority
        if let at = authority.lastIndex(of: "@") {
            let login = authority[..<at]
            guard !login.contains(":") else { throw elsewhere }
            if !login.isEmpty { user = String(login) }
            host = authority[authority.index(after: at)...]
        }
        if let colon = host.lastIndex(of: ":") {
            guard let number = UInt16(host[host.index(after: colon)...]), number > 0 else {
                throw UsageError("“\(host)” names no port")
            }
            port = number
            host = host[..<colon]
        }
        guard ["", "127.0.0.1", "localhost"].contains(host) else { throw elsewhere }
        if path.count > 1 { name = String(path.dropFirst()) }
    }
}

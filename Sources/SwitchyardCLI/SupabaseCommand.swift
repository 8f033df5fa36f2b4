import SwitchyardServerKit
import SwitchyardSupabase

/// `switchyard supabase install`
struct SupabaseCommand {
    /// `nil` to print the SQL.
    private let database: DatabaseAddress?
    /// Whether to include the rules for the domain clients.
    private let hasDomain: Bool

    init(_ words: [String]) throws(UsageError) {
        guard words.first == "install" else {
            throw UsageError(
                words.first.map { "there is no “supabase \($0)”; there is “supabase install”" }
                    ?? "what about Supabase? There is “supabase install”")
        }
        let options = try Options(Array(words.dropFirst()), values: ["--database"], switches: ["--print", "--domain"])
        guard options.has("--print") != (options["--database"] != nil) else {
            throw UsageError("“supabase install” needs either “--print” or “--database”")
        }
        hasDomain = options.has("--domain")
        database = try options["--database"].map { (text) throws(UsageError) in try DatabaseAddress(text) }
    }

    func run() async -> ExitStatus {
        guard let database else {
            Terminal.print(DocumentSchema.installation(domain: hasDomain))
            return .success
        }
        do throws(PostgresFailure) {
            let connection = try await PostgresConnection(
                port: database.port, user: database.user, database: database.name)
            defer { connection.close() }
            let results = try await connection.run(script: DocumentSchema.installation(domain: hasDomain))
            Terminal.print(
                "“\(database.name)” on port \(database.port) has version \(DocumentSchema.version) of the functions.")
            let missing = (results.last?.rows ?? []).map(MissingPart.init)
            guard !missing.isEmpty else { return .success }
            Terminal.error(MissingPart.report(missing, role: database.user))
            return .failure
        } catch {
            Terminal.error("switchyard supabase: \(error.message) (\(error.code))")
            return .failure
        }
    }
}

/// Something that an installation could not add to the database.
struct MissingPart {
    let name: String
    let statement: String
    let role: String

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
                + "“switchyard supabase install --print | psql ADDRESS”, or paste the SQL into the dashboard's editor")
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

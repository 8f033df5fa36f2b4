import SwitchyardSupabase

/// `switchyard supabase`
struct SupabaseCommand: ToolCommand {
    private enum Work {
        case install(SupabaseInstallation)
        case uninstall(SupabaseRemoval)
    }

    private let work: Work

    init(_ words: [String]) throws(UsageError) {
        let rest = Array(words.dropFirst())
        switch words.first {
        case "install": work = .install(try SupabaseInstallation(rest))
        case "uninstall": work = .uninstall(try SupabaseRemoval(rest))
        case let word?:
            throw UsageError("there is no “supabase \(word)”; there are “supabase install” and “supabase uninstall”")
        case nil: throw UsageError("missing subcommand: “supabase install” or “supabase uninstall”")
        }
    }

    func run() async -> ExitStatus {
        switch work {
        case .install(let installation): await installation.run()
        case .uninstall(let removal): await removal.run()
        }
    }
}

/// Where SQL goes: into a database, or to the standard output.
enum SQLDestination {
    case database(DatabaseAddress)
    /// Without commands of `psql`, which an editor does not have.
    case editor
    case psql

    /// - Parameters:
    ///   - options: The options of a command.
    ///   - command: Its name, for errors.
    ///   - alternative: An option of this command that takes the place of a destination, for errors.
    init(_ options: Options, of command: String, alternative: String? = nil) throws(UsageError) {
        guard !options.has("--editor") || options.has("--print") else {
            throw UsageError("“--editor” goes with “--print”")
        }
        guard options.has("--print") != (options["--database"] != nil) else {
            let choice = alternative.map { "one of “--print”, “--database” and “\($0)”" }
            throw UsageError("“supabase \(command)” needs \(choice ?? "either “--print” or “--database”")")
        }
        if let text = options["--database"] {
            self = .database(try DatabaseAddress(text))
        } else {
            self = options.has("--editor") ? .editor : .psql
        }
    }

    /// What is printed; `nil` for a database.
    func printed(_ sql: String) -> String? {
        switch self {
        case .database: nil
        case .editor: sql
        // Without this, psql goes on after an error, and ends as if all were well.
        case .psql: "\\set ON_ERROR_STOP on\n" + sql
        }
    }
}

extension Options {
    /// The parts that are named.
    var parts: Set<SchemaPart> { Set(SchemaPart.allCases.filter { has("--\($0.rawValue)") }) }
}

/// `postgresql://user@127.0.0.1:5432/name`, of a database on this machine that trusts its users.
struct DatabaseAddress: Equatable {
    var user = "postgres"
    var port: UInt16 = 5432
    var name = "postgres"

    init(_ text: String) throws(UsageError) {
        guard let start = ["postgresql://", "postgres://"].first(where: text.hasPrefix) else {
            throw UsageError("“--database” takes an address such as postgresql://postgres@127.0.0.1:5432/postgres")
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
                throw UsageError("“\(host)” names no port; use a number from 1 to 65535")
            }
            port = number
            host = host[..<colon]
        }
        guard ["", "127.0.0.1", "localhost"].contains(host) else { throw elsewhere }
        if path.count > 1 { name = String(path.dropFirst()) }
    }
}

import SwitchyardServerKit
import SwitchyardSupabase

/// `switchyard supabase install`
struct SupabaseInstallation {
    private enum Work {
        case explain
        case install(SQLDestination)
    }

    private let work: Work
    let parts: Set<SchemaPart>
    /// Whether callers who are not signed in may call everything.
    private let isOpen: Bool

    init(_ words: [String]) throws(UsageError) {
        let options = try Options(words, of: Commands.named("supabase install"))
        // The rule comes on top of what there is without any of the others.
        let named = options.parts
        parts = named.isSubset(of: [.domain]) ? named.union(Set<SchemaPart>.usual) : named
        isOpen = options.has("--anon")
        if options.has("--explain") {
            guard options["--database"] == nil, !options.has("--print"), !options.has("--editor") else {
                throw UsageError("“--explain” installs nothing; leave out “--print”, “--editor” and “--database”")
            }
            work = .explain
        } else {
            work = .install(try SQLDestination(options, of: "install", alternative: "--explain"))
        }
    }

    func run() async -> ExitStatus {
        switch work {
        case .explain:
            Terminal.print(DocumentSchema.explanation(of: parts))
            return .success
        case .install(.database(let database)): return await install(in: database)
        case .install(let destination):
            Terminal.print(destination.printed(sql) ?? "")
            return .success
        }
    }

    private var sql: String { DocumentSchema.installation(of: parts, anon: isOpen) }

    private func install(in database: DatabaseAddress) async -> ExitStatus {
        do throws(PostgresFailure) {
            let connection = try await PostgresConnection(
                port: database.port, user: database.user, database: database.name)
            defer { connection.close() }
            let results = try await connection.run(script: sql)
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

import SwitchyardServerKit
import Synchronization

/// A cache of functions. A call that uses it includes a check that they are unchanged, and is otherwise repeated with the
/// current ones.
final class KnownFunctions: Sendable {
    private struct Name: Hashable {
        let schema: String
        let name: String
    }

    private let known = Mutex<[Name: [RESTFunction]]>([:])

    /// `nil` if nothing is cached; missing functions are not cached.
    func candidates(_ schema: String, _ name: String) -> [RESTFunction]? {
        known.withLock { $0[Name(schema: schema, name: name)] }
    }

    func keep(_ candidates: [RESTFunction], _ schema: String, _ name: String) {
        known.withLock { $0[Name(schema: schema, name: name)] = candidates.isEmpty ? nil : candidates }
    }

    /// A statement that fails, and rolls everything back, unless the functions with this name are these.
    static func check(_ candidates: [RESTFunction]) -> PostgresStatement? {
        guard let first = candidates.first else { return nil }
        return PostgresStatement(
            """
            select case when string_agg(p.oid || ':' || p.xmin, ',' order by p.oid) = $3 then 0
                        else ('\(changed)' || count(*))::int end
            from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
            where n.nspname = $1 and p.proname = $2 and p.prokind = 'f'
            """, [first.schema, first.name, candidates.map(\.version).joined(separator: ",")], isKept: true)
    }

    static func haveChanged(_ failure: RESTFailure) -> Bool {
        failure.code == "22P02" && failure.message.contains(changed)
    }

    private static let changed = "the data service knows other functions than "
}

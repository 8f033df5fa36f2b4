import SwitchyardServerKit
import Synchronization

/// Functions as they were when they were looked up last. A call that goes by them takes along a check that they are still
/// so, and is made once more with what is found then.
final class KnownFunctions: Sendable {
    private struct Name: Hashable {
        let schema: String
        let name: String
    }

    private let known = Mutex<[Name: [RESTFunction]]>([:])

    /// `nil` where nothing is known; names of no function are not kept.
    func candidates(_ schema: String, _ name: String) -> [RESTFunction]? {
        known.withLock { $0[Name(schema: schema, name: name)] }
    }

    func keep(_ candidates: [RESTFunction], _ schema: String, _ name: String) {
        known.withLock { $0[Name(schema: schema, name: name)] = candidates.isEmpty ? nil : candidates }
    }

    /// Fails, and takes everything back that comes with it, unless the functions of the name are these.
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

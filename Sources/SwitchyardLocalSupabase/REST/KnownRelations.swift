import SwitchyardServerKit
import Synchronization

/// A cache of the relationships between tables, which is used as long as the catalog is unchanged.
final class KnownRelations: Sendable {
    private let known = Mutex<(state: String, relations: RESTRelations)?>(nil)

    /// A value that changes with each table, view, function or foreign key that is made, changed or removed. Objects of the
    /// database itself have smaller numbers.
    private static let state = PostgresStatement(
        """
        select concat_ws(' ',
          (select sum(hashtextextended(concat_ws(':', oid, xmin), 0)) from pg_catalog.pg_namespace),
          (select sum(hashtextextended(concat_ws(':', oid, xmin), 0)) from pg_catalog.pg_class where oid >= 16384),
          (select sum(hashtextextended(concat_ws(':', attrelid, attnum, xmin), 0)) from pg_catalog.pg_attribute
           where attrelid >= 16384),
          (select sum(hashtextextended(concat_ws(':', oid, xmin), 0)) from pg_catalog.pg_constraint where oid >= 16384),
          (select sum(hashtextextended(concat_ws(':', oid, xmin), 0)) from pg_catalog.pg_proc where oid >= 16384),
          (select sum(hashtextextended(concat_ws(':', oid, xmin), 0)) from pg_catalog.pg_rewrite where oid >= 16384))
        """, isKept: true)

    func relations(of schemas: [String], in database: SupabaseDatabase) async throws(PostgresFailure) -> RESTRelations {
        let state = try await database.run([Self.state])[0].text
        if let known = known.withLock({ $0 }), known.state == state { return known.relations }
        // The state is read first: if the catalog changes in between, the next request reads both again.
        let found = try await database.run([
            Self.state, PostgresStatement(RESTRelations.query, [RESTStatement.array(schemas)], isKept: true),
        ])
        let relations = RESTRelations(found[1].rows.first?.first.flatMap { $0 } ?? [])
        known.withLock { $0 = (found[0].text ?? "", relations) }
        return relations
    }
}

import SwitchyardBytes
import SwitchyardServerKit
import Synchronization

/// A table or view in the database's catalog. As with the vendor, partitions are parts of their table only.
struct RESTTable: Sendable {
    struct Column: Sendable {
        let name: String
        /// Such as "json" or "int4"; for arrays with a leading underscore.
        let type: String
        /// The default value, as an expression of the table's owner.
        let defaultValue: String?
        let representation: RESTRepresentation
    }

    let schema: String
    let name: String
    let columns: [Column]
    let key: [String]
    /// Functions of the schema that take a row and can be read like columns, with their result types.
    private let computed: [(name: String, type: String)]
    private let isView: Bool
    /// What makes documents of its rows.
    let handlers: [RESTMediaHandler]
    /// The methods that it supports, as far as that is a matter of its kind.
    let methods: String

    /// The columns that every table has in addition to its own, with their types. Views have none.
    static let systemColumns = [
        "xmin": "xid", "xmax": "xid", "cmin": "cid", "cmax": "cid", "ctid": "tid", "tableoid": "oid",
    ]

    static let query = """
        select json_build_object(
          'columns', (select json_agg(json_build_array(a.attname, t.typname,
                               case when a.attidentity = 'd' then format('nextval(%L)', pg_get_serial_sequence(c.oid::regclass::text, a.attname))
                                    when a.attidentity = '' then coalesce(pg_get_expr(d.adbin, d.adrelid), pg_get_expr(t.typdefaultbin, 0)) end,
                               \(RESTRepresentation.query))
                             order by a.attnum)
                      from pg_attribute a join pg_type t on t.oid = a.atttypid
                      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum and a.attgenerated = ''
                      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
          'key', (select json_agg(a.attname order by array_position(i.indkey, a.attnum)) from pg_index i
                  join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey)
                  where i.indrelid = c.oid and i.indisprimary),
          'isView', c.relkind = 'v', 'events', pg_relation_is_updatable(c.oid, true),
          'handlers', \(RESTMediaHandler.query(of: "c.reltype")),
          'computed', (select json_agg(json_build_array(p.proname, t.typname)) from pg_proc p join pg_type t on t.oid = p.prorettype
                       where p.pronamespace = n.oid and p.pronargs = 1 and p.proargtypes[0] = c.reltype and not p.proretset))
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1 and c.relname = $2 and c.relkind in ('r', 'v', 'm', 'f', 'p') and not c.relispartition
        """

    /// The tables of a schema. It takes an unused second parameter, like the other queries.
    static let names = """
        select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1 and c.relkind in ('r', 'v', 'm', 'f', 'p') and not c.relispartition and $2::text = '' order by c.relname
        """

    init?(_ bytes: [UInt8], schema: String, name: String) {
        guard let json = try? JSON(parsing: bytes) else { return nil }
        self.schema = schema
        self.name = name
        columns = (json["columns"]?.array ?? []).compactMap { column in
            guard let name = column[0]?.string, let type = column[1]?.string else { return nil }
            return Column(
                name: name, type: type, defaultValue: column[2]?.string,
                representation: RESTRepresentation(column[3] ?? .null))
        }
        isView = json["isView"]?.bool ?? false
        key = (json["key"]?.array ?? []).compactMap(\.string)
        handlers = (json["handlers"]?.array ?? []).compactMap { RESTMediaHandler($0) }
        methods = RESTTable.methods(json["events"]?.int ?? 0, hasKey: !key.isEmpty)
        computed = (json["computed"]?.array ?? []).compactMap { function in
            guard let name = function[0]?.string, let type = function[1]?.string else { return nil }
            return (name, type)
        }
    }

    var types: [String: String] {
        Dictionary(columns.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
    }

    /// The columns whose values are shown or written in another form, if there are any.
    var representations: [String: RESTRepresentation] {
        let all = columns.filter { !$0.representation.isPlain }
        return Dictionary(all.map { ($0.name, $0.representation) }, uniquingKeysWith: { first, _ in first })
    }

    /// The readable columns and functions of a row, with their types.
    var readable: [String: String] {
        types.merging(computed.map { ($0.name, $0.type) }, uniquingKeysWith: { column, _ in column })
            .merging(isView ? [:] : Self.systemColumns, uniquingKeysWith: { column, _ in column })
    }

    /// - Parameter events: As the database codes what can be done with a table: by bits, insertion (8), update (4), deletion.
    private static func methods(_ events: Int, hasKey: Bool) -> String {
        let (inserts, updates, deletes) = (events & 8 != 0, events & 4 != 0, events & 16 != 0)
        let methods: [(String, Bool)] = [
            ("POST", inserts), ("PUT", inserts && updates && hasKey), ("PATCH", updates), ("DELETE", deletes),
        ]
        return (["OPTIONS,GET,HEAD"] + methods.filter(\.1).map(\.0)).joined(separator: ",")
    }

    /// Its quoted name in a statement.
    var quoted: String { RESTStatement.quoted(schema) + "." + RESTStatement.quoted(name) }
}

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
          (select sum(hashtextextended(concat_ws(':', oid, xmin), 0)) from pg_catalog.pg_cast where oid >= 16384),
          (select sum(hashtextextended(concat_ws(':', oid, xmin), 0)) from pg_catalog.pg_rewrite where oid >= 16384))
        """, isPrepared: true)

    func relations(of schemas: [String], in database: SupabaseDatabase) async throws(PostgresFailure) -> RESTRelations {
        let state = try await database.run([Self.state])[0].text
        if let known = known.withLock({ $0 }), known.state == state { return known.relations }
        // The state is read first: if the catalog changes in between, the next request reads both again.
        let found = try await database.run([
            Self.state, PostgresStatement(RESTRelations.query, [RESTStatement.array(schemas)], isPrepared: true),
        ])
        let relations = RESTRelations(found[1].rows.first?.first.flatMap { $0 } ?? [])
        known.withLock { $0 = (found[0].text ?? "", relations) }
        return relations
    }
}

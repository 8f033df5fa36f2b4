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
    }

    let schema: String
    let name: String
    let columns: [Column]
    let key: [String]
    /// Functions of the schema that take a row and can be read like columns, with their result types.
    private let computed: [(name: String, type: String)]
    private let isView: Bool

    /// The columns that every table has in addition to its own, with their types. Views have none.
    static let systemColumns = [
        "xmin": "xid", "xmax": "xid", "cmin": "cid", "cmax": "cid", "ctid": "tid", "tableoid": "oid",
    ]

    static let query = """
        select json_build_object(
          'columns', (select json_agg(json_build_array(a.attname, t.typname,
                               case when a.attidentity <> '' then null else pg_get_expr(d.adbin, d.adrelid) end) order by a.attnum)
                      from pg_attribute a join pg_type t on t.oid = a.atttypid
                      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum and a.attgenerated = ''
                      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
          'key', (select json_agg(a.attname order by array_position(i.indkey, a.attnum)) from pg_index i
                  join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey)
                  where i.indrelid = c.oid and i.indisprimary),
          'isView', c.relkind = 'v',
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
            return Column(name: name, type: type, defaultValue: column[2]?.string)
        }
        isView = json["isView"]?.bool ?? false
        key = (json["key"]?.array ?? []).compactMap(\.string)
        computed = (json["computed"]?.array ?? []).compactMap { function in
            guard let name = function[0]?.string, let type = function[1]?.string else { return nil }
            return (name, type)
        }
    }

    var types: [String: String] {
        Dictionary(columns.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
    }

    /// The readable columns and functions of a row, with their types.
    var readable: [String: String] {
        types.merging(computed.map { ($0.name, $0.type) }, uniquingKeysWith: { column, _ in column })
            .merging(isView ? [:] : Self.systemColumns, uniquingKeysWith: { column, _ in column })
    }

    /// Its quoted name in a statement.
    var quoted: String { RESTStatement.quoted(schema) + "." + RESTStatement.quoted(name) }
}

/// A function in the database's catalog.
struct RESTFunction: Sendable {
    /// All functions with a name, in their current state.
    static let query = """
        select json_build_object('version', p.oid || ':' || p.xmin, 'isSet', p.proretset, 'isVoid', p.prorettype = 'void'::regtype,
          'isComposite', t.typtype = 'c' or p.prorettype = 'record'::regtype or p.proargmodes && '{t,o,b}',
          'output', (select case when count(*) = 1 then min(p.proargnames[n]) end
                     from unnest(p.proargmodes) with ordinality as m(mode, n) where mode in ('o', 'b')),
          'relation', (select r.relname from pg_class r where r.oid = t.typrelid and r.relkind in ('r', 'v', 'm', 'f', 'p')),
          'isStable', p.provolatile <> 'v', 'isVariadic', p.provariadic <> 0, 'required', p.pronargs - p.pronargdefaults,
          'arguments', coalesce((select json_agg(json_build_array(coalesce(p.proargnames[n], ''), format_type(a.t, null)) order by n)
                                 from unnest(p.proargtypes) with ordinality as a(t, n)), '[]'))
        from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_type t on t.oid = p.prorettype
        where n.nspname = $1 and p.proname = $2 and p.prokind = 'f' order by p.oid
        """

    let schema: String
    let name: String
    /// Changes when the function is replaced or altered.
    let version: String
    let arguments: [(name: String, type: String)]
    private let required: Int
    let isSet: Bool
    let isVoid: Bool
    let isComposite: Bool
    let isStable: Bool
    /// Whether the last argument takes all values with its name.
    let isVariadic: Bool
    /// The name of the only value that it returns, if that is named.
    let output: String?
    /// The name of the table or view whose rows it returns.
    let relation: String?

    /// The functions of a schema, with their arguments.
    static let names = """
        select p.proname || '(' || coalesce((select string_agg(coalesce(p.proargnames[n], ''), ', ' order by n)
                                             from unnest(p.proargtypes) with ordinality as a(t, n)), '') || ')'
        from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        where n.nspname = $1 and p.prokind = 'f' and $2::text = '' order by p.proname
        """

    init?(_ bytes: [UInt8], schema: String, name: String) {
        guard let json = try? JSON(parsing: bytes) else { return nil }
        self.schema = schema
        self.name = name
        version = json["version"]?.string ?? ""
        arguments = (json["arguments"]?.array ?? []).compactMap { argument in
            guard let name = argument[0]?.string, let type = argument[1]?.string else { return nil }
            return (name, type)
        }
        required = json["required"]?.int ?? 0
        isSet = json["isSet"]?.bool ?? false
        isVoid = json["isVoid"]?.bool ?? false
        isComposite = json["isComposite"]?.bool ?? false
        isStable = json["isStable"]?.bool ?? false
        isVariadic = json["isVariadic"]?.bool ?? false
        output = json["output"]?.string
        relation = json["relation"]?.string
    }

    func accepts(_ given: Set<String>) -> Bool {
        given.isSubset(of: Set(arguments.map(\.name)))
            && Set(arguments.prefix(required).map(\.name)).isSubset(of: given)
    }

    /// Whether it takes the unparsed body.
    var takesBody: Bool {
        arguments.count == 1 && arguments[0].name.isEmpty
            && ["json", "jsonb", "text", "bytea"].contains(arguments[0].type)
    }

    /// The call as a source of rows, with all arguments in one JSON object as the named parameter.
    ///
    /// Scalars are rows with one column, which has the alias as its name.
    func source(calledWith given: JSONObject, _ parameter: String, alias: String) -> String {
        let (row, result) = (RESTStatement.quoted("arguments of the call"), RESTStatement.quoted(alias))
        let used = arguments.filter { given[$0.name] != nil }
        let values = used.map { argument in
            "\(isVariadic && argument.name == arguments.last?.name ? "variadic " : "")"
                + "\(RESTStatement.quoted(argument.name)) => \(row).\(RESTStatement.quoted(argument.name))"
        }
        let call =
            "\(RESTStatement.quoted(schema)).\(RESTStatement.quoted(name))(\(values.joined(separator: ", "))) as \(result)"
        guard !used.isEmpty else { return "(select \(parameter)::json) \(row), lateral \(call)" }
        let types = used.map { "\(RESTStatement.quoted($0.name)) \($0.type)" }.joined(separator: ", ")
        return "json_to_record(\(parameter)::json) as \(row)(\(types)), lateral \(call)"
    }
}

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
            """, [first.schema, first.name, candidates.map(\.version).joined(separator: ",")], isPrepared: true)
    }

    static func haveChanged(_ failure: RESTFailure) -> Bool {
        failure.code == "22P02" && failure.message.contains(changed)
    }

    private static let changed = "the data service knows other functions than "
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

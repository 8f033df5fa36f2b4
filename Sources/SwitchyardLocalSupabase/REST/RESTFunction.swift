import SwitchyardBytes
import SwitchyardServerKit
import Synchronization

/// A function in the database's catalog.
struct RESTFunction: Sendable {
    struct Argument: Hashable, Sendable {
        let name: String
        /// As messages show it.
        let type: String
        /// As statements name it: with its schema, and for types that cut off what is too long, one that does not.
        let castType: String
        let isRequired: Bool
    }

    /// All functions with a name, in their current state.
    static let query = """
        select json_build_object('version', p.oid || ':' || p.xmin, 'isSet', p.proretset, 'isVoid', p.prorettype = 'void'::regtype,
          'isTrigger', p.prorettype = 'trigger'::regtype,
          'isComposite', t.typtype = 'c' or coalesce(p.proargmodes::text[] && '{t,o,b}', false),
          'relation', (select json_build_array(s.nspname, r.relname) from pg_class r join pg_namespace s on s.oid = r.relnamespace
                       where r.oid = t.typrelid and r.relkind in ('r', 'v', 'm', 'f', 'p')),
          'isStable', p.provolatile <> 'v', 'isVariadic', p.provariadic <> 0,
          'document', (select json_build_array(lower(d.typname), dn.nspname, d.typname, false, b.typname) from pg_type d
                       join pg_namespace dn on dn.oid = d.typnamespace join pg_type b on b.oid = d.typbasetype
                       where d.oid = p.prorettype and d.typtype = 'd' and strpos(d.typname, '/') > 0 and not p.proretset),
          'handlers', \(RESTMediaHandler.query(of: "t.oid")),
          'arguments', coalesce((
             select json_agg(json_build_array(coalesce(p.proargnames[n], ''), a.t::regtype::text,
               case when a.t = 'bpchar'::regtype then 'pg_catalog.varchar' when a.t = 'bpchar[]'::regtype then 'pg_catalog.varchar[]'
                    when a.t = 'bit'::regtype then 'pg_catalog.varbit' when a.t = 'bit[]'::regtype then 'pg_catalog.varbit[]'
                    else quote_ident(an.nspname) || '.' || quote_ident(at.typname) end,
               n <= p.pronargs - p.pronargdefaults) order by n)
             from unnest(p.proargtypes) with ordinality as a(t, n)
             join pg_type at on at.oid = a.t join pg_namespace an on an.oid = at.typnamespace), '[]'))
        from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_type rt on rt.oid = p.prorettype
        join pg_type t on t.oid = case when rt.typtype = 'd' then rt.typbasetype else rt.oid end
        where n.nspname = $1 and p.proname = $2 and p.prokind = 'f' order by p.oid
        """

    let schema: String
    let name: String
    /// Changes when the function is replaced or altered.
    let version: String
    let arguments: [Argument]
    let isSet: Bool
    let isVoid: Bool
    let isComposite: Bool
    let isStable: Bool
    /// Whether the last argument takes all values with its name.
    let isVariadic: Bool
    /// Whether requests can call it: not if its arguments have no names.
    let isCallable: Bool
    /// The table or view whose rows it returns.
    let relation: (schema: String, name: String)?
    /// What makes documents of its result.
    let handlers: [RESTMediaHandler]

    /// The functions of a schema.
    static let names = """
        select distinct p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        where n.nspname = $1 and p.prokind = 'f' and p.prorettype <> 'trigger'::regtype and $2::text = '' order by p.proname
        """

    init?(_ bytes: [UInt8], schema: String, name: String) {
        guard let json = try? JSON(parsing: bytes) else { return nil }
        self.schema = schema
        self.name = name
        version = json["version"]?.string ?? ""
        arguments = (json["arguments"]?.array ?? []).compactMap { argument in
            guard let name = argument[0]?.string, let type = argument[1]?.string, let cast = argument[2]?.string else {
                return nil
            }
            return Argument(name: name, type: type, castType: cast, isRequired: argument[3]?.bool ?? true)
        }
        isSet = json["isSet"]?.bool ?? false
        isVoid = json["isVoid"]?.bool ?? false
        isComposite = json["isComposite"]?.bool ?? false
        isStable = json["isStable"]?.bool ?? false
        isVariadic = json["isVariadic"]?.bool ?? false
        let schemaOfRows = json["relation"]?[0]?.string
        relation = schemaOfRows.flatMap { schema in json["relation"]?[1]?.string.map { (schema, $0) } }
        let document = json["document"].flatMap { RESTMediaHandler($0) }
        handlers = (document.map { [$0] } ?? []) + (json["handlers"]?.array ?? []).compactMap { RESTMediaHandler($0) }
        let nameless = arguments.filter(\.name.isEmpty).count
        isCallable =
            json["isTrigger"] != true
            && (nameless == 0 || (nameless == 1 && Self.wholeTypes.contains(arguments[0].type)))
    }

    private static let wholeTypes: Set<String> = ["json", "jsonb", "text", "xml", "bytea"]

    /// How its result is read.
    var shape: RESTShape {
        isSet ? (isComposite ? .rows : .values) : (isComposite ? .row : .value)
    }

    /// The name of its rows in messages.
    var label: String { relation?.name ?? name }

    // MARK: Choosing

    func accepts(_ given: Set<String>) -> Bool {
        given.isSubset(of: Set(arguments.map(\.name)))
            && Set(arguments.filter(\.isRequired).map(\.name)).isSubset(of: given)
    }

    /// Whether it takes a body of this type as a whole.
    func takesWhole(_ type: RESTMediaType) -> Bool {
        guard arguments.count == 1, arguments[0].name.isEmpty else { return false }
        return switch (type.name, arguments[0].type) {
        case ("application/json", "json"), ("application/json", "jsonb"), ("text/plain", "text"), ("text/xml", "xml"),
            ("application/octet-stream", "bytea"):
            true
        default: false
        }
    }

    // MARK: Calling

    /// The call as a source of rows. A single value is in a column with the vendor's name.
    private func source(_ values: String) -> String {
        let (call, alias) = (
            "\(RESTStatement.quoted(schema)).\(RESTStatement.quoted(name))(\(values))", RESTStatement.quoted(label)
        )
        return isComposite ? "\(call) as \(alias)" : "(select \(call) as \"pgrst_scalar\") as \(alias)"
    }

    private func assigned(_ argument: Argument, _ value: String) -> String {
        let isList = isVariadic && argument == arguments.last
        return "\(isList ? "variadic " : "")\(RESTStatement.quoted(argument.name)) => \(value)"
    }

    /// A call with the arguments in one JSON object, or in the first of a list.
    func source(calledWith names: Set<String>, _ statement: inout RESTStatement, body: String) -> String {
        let used = arguments.filter { names.contains($0.name) }
        let parameter = statement.bind(body)
        let row = RESTStatement.quoted("arguments of the call")
        let values = used.map { assigned($0, "\(row).\(RESTStatement.quoted($0.name))") }.joined(separator: ", ")
        // What is no JSON is refused even if nothing is read from it.
        guard !used.isEmpty else { return "(select \(parameter)::json) \(row), lateral \(source(values))" }
        let types = used.map { "\(RESTStatement.quoted($0.name)) \($0.castType)" }.joined(separator: ", ")
        return
            "(select * from json_to_recordset(\(parameter)::json) as \(row)(\(types)) limit 1) as \(row), lateral \(source(values))"
    }

    /// A call with the arguments as text; of those that are given repeatedly, the last counts.
    func source(calledWith fields: [(name: String, value: String)], _ statement: inout RESTStatement) -> String {
        var values: [String] = []
        for argument in arguments {
            let given = fields.filter { $0.name == argument.name }.map(\.value)
            guard let last = given.last else { continue }
            let isList = isVariadic && argument == arguments.last
            let parameter = statement.bind(isList ? RESTStatement.array(given) : last)
            values.append(assigned(argument, "\(parameter)::\(argument.castType)"))
        }
        return source(values.joined(separator: ", "))
    }

    /// A call with the body as the only, nameless argument.
    func source(calledWith whole: [UInt8], _ statement: inout RESTStatement) -> String {
        let type = arguments[0].type
        let text = type == "bytea" ? "\\x" + Hex.encode(whole) : String(decoding: whole, as: UTF8.self)
        return source("\(statement.bind(text))::\(arguments[0].castType)")
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

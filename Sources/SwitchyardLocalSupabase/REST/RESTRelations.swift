import SwitchyardBytes

/// The tables and views that clients may access, and what relates them, as the database's catalog has it.
struct RESTRelations: Sendable {
    struct Relation: Sendable {
        let id: Int
        let schema: String
        let name: String
        let isView: Bool
        /// The names of the columns by their numbers.
        let columns: [Int: String]
        /// The readable columns, and functions of a row, with their types.
        let readable: [String: String]
        /// The columns whose values have another form outside of the database.
        let representations: [String: RESTRepresentation]

        /// The names of the columns in their order.
        var columnNames: [String] { columns.keys.sorted().compactMap { columns[$0] } }

        var quoted: String { RESTStatement.quoted(schema) + "." + RESTStatement.quoted(name) }
    }

    /// A function that takes a row and returns related ones.
    private struct Function {
        let schema: String
        let name: String
        let origin: Int
        let target: Int
        let isToOne: Bool
    }

    /// Everything in one value. The parameter is the array of the schemas that clients may access.
    static let query = """
        select json_build_object(
          'relations', (
            select json_agg(json_build_array(c.oid::int8, n.nspname, c.relname, c.relkind,
              (select json_agg(json_build_array(a.attnum, a.attname, t.typname, \(RESTRepresentation.query)))
               from pg_attribute a join pg_type t on t.oid = a.atttypid
               where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
              (select json_agg(json_build_array(p.proname, t.typname)) from pg_proc p join pg_type t on t.oid = p.prorettype
               where p.pronamespace = n.oid and p.pronargs = 1 and p.proargtypes[0] = c.reltype and not p.proretset)))
            from pg_class c join pg_namespace n on n.oid = c.relnamespace
            where n.nspname = any ($1::text[]) and c.relkind in ('r', 'v', 'm', 'f', 'p') and not c.relispartition),
          'foreign', (
            select json_agg(json_build_array(k.conname, k.conrelid::int8, k.confrelid::int8, k.conkey, k.confkey,
              exists (select from pg_constraint u where u.conrelid = k.conrelid and u.contype in ('p', 'u')
                      and u.conkey <@ k.conkey and u.conkey @> k.conkey)) order by k.conrelid, k.conname)
            from pg_constraint k where k.contype = 'f' and k.conparentid = 0),
          'primary', (select json_agg(json_build_array(k.conrelid::int8, k.conkey)) from pg_constraint k where k.contype = 'p'),
          'views', (
            select json_agg(json_build_array(c.oid::int8, r.ev_action::text))
            from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_rewrite r on r.ev_class = c.oid and r.ev_type = '1'
            where c.relkind in ('v', 'm') and n.nspname not in ('pg_catalog', 'information_schema')),
          'functions', (
            select json_agg(json_build_array(n.nspname, p.proname, a.typrelid::int8, r.typrelid::int8,
              not p.proretset or p.prorows = 1))
            from pg_proc p join pg_namespace n on n.oid = p.pronamespace
            join pg_type a on a.oid = p.proargtypes[0] join pg_type r on r.oid = p.prorettype
            where n.nspname = any ($1::text[]) and p.pronargs = 1 and p.prokind = 'f' and a.typrelid <> 0 and r.typrelid <> 0))
        """

    let relations: [Int: Relation]
    /// From the rows with a foreign key to those that it names, also of views that show the columns of both.
    private var foreign: [RESTRelationship] = []
    private var keys: [Int: Set<String>] = [:]
    private var functions: [Function] = []

    init(_ bytes: [UInt8]) {
        let json = (try? JSON(parsing: bytes)) ?? .null
        relations = Self.relations(json["relations"]?.array ?? [])
        let views = Self.views(json["views"]?.array ?? [])
        for item in json["primary"]?.array ?? [] {
            guard let table = item[0]?.int, let columns = item[1]?.numbers else { continue }
            for (relation, names) in Self.sides(table, columns, relations, views) where keys[relation.id] == nil {
                keys[relation.id] = Set(names)
            }
        }
        for item in json["foreign"]?.array ?? [] {
            guard let constraint = item[0]?.string, let table = item[1]?.int, let other = item[2]?.int,
                let columns = item[3]?.numbers, let otherColumns = item[4]?.numbers
            else { continue }
            let targets = Self.sides(other, otherColumns, relations, views)
            for (origin, names) in Self.sides(table, columns, relations, views) {
                for (target, otherNames) in targets {
                    foreign.append(
                        RESTRelationship(
                            origin: origin, target: target, constraint: constraint,
                            kind: item[5]?.bool == true ? .oneToOne : .manyToOne,
                            columns: zip(names, otherNames).map { .init(origin: $0, target: $1) }))
                }
            }
        }
        functions = (json["functions"]?.array ?? []).compactMap { item in
            guard let schema = item[0]?.string, let name = item[1]?.string, let origin = item[2]?.int,
                let target = item[3]?.int
            else { return nil }
            return Function(
                schema: schema, name: name, origin: origin, target: target, isToOne: item[4]?.bool ?? false)
        }
    }

    func relation(_ schema: String, _ name: String) -> Relation? {
        relations.values.first { $0.schema == schema && $0.name == name }
    }

    /// The names of the relations of a schema that are related to any other.
    func related(in schema: String) -> [String] {
        Set(foreign.flatMap { [$0.origin, $0.target] }.filter { $0.schema == schema }.map(\.name)).sorted()
    }

    /// All relationships of a relation to those of a schema, in the order in which they are listed in messages.
    func relationships(of origin: Relation, in schema: String) -> [RESTRelationship] {
        var found = foreign.filter { $0.origin.id == origin.id }
        let incoming = foreign.filter { $0.target.id == origin.id }
        found += incoming.map(\.inverse)
        // Tables whose primary key has two foreign keys join many rows to many others.
        for first in incoming where first.kind == .manyToOne {
            for second in foreign
            where second.kind == .manyToOne && second.origin.id == first.origin.id
                && second.constraint != first.constraint
            {
                let columns = Set((first.columns + second.columns).map(\.origin))
                guard columns.isSubset(of: keys[first.origin.id] ?? []) else { continue }
                found.append(RESTRelationship(joining: first, to: second))
            }
        }
        return found.filter { $0.target.schema == schema }.sorted()
    }

    /// The relationship that a function of a row creates.
    func computed(_ name: String, of origin: Relation) -> RESTRelationship? {
        for function in functions where function.name == name && function.origin == origin.id {
            guard let target = relations[function.target] else { continue }
            return RESTRelationship(
                origin: origin, target: target,
                function: RESTStatement.quoted(function.schema) + "." + RESTStatement.quoted(name),
                isToOne: function.isToOne)
        }
        return nil
    }

    // MARK: Decoding

    private static func relations(_ items: [JSON]) -> [Int: Relation] {
        var relations: [Int: Relation] = [:]
        for item in items {
            guard let id = item[0]?.int, let schema = item[1]?.string, let name = item[2]?.string else { continue }
            var columns: [Int: String] = [:]
            var readable = item[3]?.string == "v" ? [:] : RESTTable.systemColumns
            var representations: [String: RESTRepresentation] = [:]
            for column in item[4]?.array ?? [] {
                guard let number = column[0]?.int, let name = column[1]?.string else { continue }
                columns[number] = name
                readable[name] = column[2]?.string ?? ""
                let representation = RESTRepresentation(column[3] ?? .null)
                if !representation.isPlain { representations[name] = representation }
            }
            for function in item[5]?.array ?? [] {
                if let name = function[0]?.string, readable[name] == nil { readable[name] = function[1]?.string ?? "" }
            }
            relations[id] = Relation(
                id: id, schema: schema, name: name, isView: ["v", "m"].contains(item[3]?.string), columns: columns,
                readable: readable, representations: representations)
        }
        return relations
    }

    private typealias Origins = [RESTViewDefinition.Column: [Int]]

    /// For each view, its columns that show a column of a table or of another view.
    private static func views(_ items: [JSON]) -> [Int: Origins] {
        var direct: [Int: [Int: RESTViewDefinition.Column]] = [:]
        for item in items {
            guard let id = item[0]?.int, let text = item[1]?.string else { continue }
            direct[id] = RESTViewDefinition.origins(text)
        }
        return direct.mapValues { columns in
            var origins: Origins = [:]
            for (number, first) in columns.sorted(by: { $0.key < $1.key }) {
                var seen: Set<RESTViewDefinition.Column> = []
                var next: RESTViewDefinition.Column? = first
                while let origin = next, seen.insert(origin).inserted {
                    origins[origin, default: []].append(number)
                    next = direct[origin.relation]?[origin.column]
                }
            }
            return origins
        }
    }

    /// The accessible relations that have all of these columns of a table: the table, and views that show them.
    private static func sides(
        _ table: Int, _ columns: [Int], _ relations: [Int: Relation], _ views: [Int: Origins]
    ) -> [(relation: Relation, names: [String])] {
        var sides: [(Relation, [String])] = []
        if let relation = relations[table] { sides.append((relation, columns.compactMap { relation.columns[$0] })) }
        for (id, origins) in views.sorted(by: { $0.key < $1.key }) {
            guard let view = relations[id] else { continue }
            // A view may show a column several times.
            var choices: [[String]] = [[]]
            for column in columns {
                let names = (origins[.init(relation: table, column: column)] ?? []).compactMap { view.columns[$0] }
                choices = choices.flatMap { choice in names.map { choice + [$0] } }
            }
            sides += choices.map { (view, $0) }
        }
        return sides.filter { $0.1.count == columns.count }
    }
}

extension JSON {
    fileprivate var numbers: [Int]? { array?.compactMap(\.int) }
}

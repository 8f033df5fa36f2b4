import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// The description of the tables that a caller may use, at the root of the data service.
extension LocalREST {
    /// Parameters: the schema, and the caller's role.
    private static let description = """
        select json_build_array(c.relname, obj_description(c.oid, 'pg_class'),
          (select json_agg(json_build_array(a.attname,
               format_type(case t.typtype when 'd' then t.typbasetype else a.atttypid end, null),
               case when a.attgenerated = '' then pg_get_expr(d.adbin, d.adrelid) end,
               a.attnotnull, coalesce(a.attnum = any (k.conkey), false), f.relname, f.attname) order by a.attnum)
           from pg_attribute a join pg_type t on t.oid = a.atttypid
           left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
           left join pg_constraint k on k.conrelid = a.attrelid and k.contype = 'p'
           left join lateral (
             select r.relname, o.attname from pg_constraint x join pg_class r on r.oid = x.confrelid
             join pg_attribute o on o.attrelid = x.confrelid and o.attnum = x.confkey[1]
             where x.conrelid = a.attrelid and x.contype = 'f' and x.conkey = array[a.attnum] limit 1) f on true
           where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped))
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1 and c.relkind in ('r', 'v', 'm', 'f', 'p') and not c.relispartition
          and (has_any_column_privilege($2, c.oid, 'select, insert, update') or has_table_privilege($2, c.oid, 'delete'))
        order by c.relname
        """

    func describe(_ schema: String, to role: String, _ request: ServerRequest) async throws(RESTFailure) -> ServerResponse {
        var definitions: JSONObject = [:]
        for bytes in try await lookUp(Self.description, schema, role) {
            guard let json = try? JSON(parsing: bytes), let name = json[0]?.string else { continue }
            var properties: JSONObject = [:]
            var required: [JSON] = []
            for column in json[2]?.array ?? [] {
                guard let name = column[0]?.string, let format = column[1]?.string else { continue }
                properties[name] = .object(Self.property(column, format))
                if column[3] == true { required.append(.string(name)) }
            }
            var definition: JSONObject = ["type": "object", "properties": .object(properties)]
            if let words = json[1]?.string { definition["description"] = .string(words) }
            if !required.isEmpty { definition["required"] = .array(required) }
            definitions[name] = .object(definition)
        }
        var response = ServerResponse.json(
            JSON.object([
                "swagger": "2.0", "basePath": "/", "definitions": .object(definitions),
                "info": ["title": "standard public schema", "description": "A local Supabase"],
                "paths": .object(JSONObject(definitions.map { (key: "/\($0.key)", value: [:]) })),
            ]).bytes())
        response.headers["Content-Type"] = "application/openapi+json; charset=utf-8"
        return response
    }

    private static func property(_ column: JSON, _ format: String) -> JSONObject {
        let type: JSON =
            switch format {
            case "smallint", "integer", "bigint": "integer"
            case "real", "double precision", "numeric": "number"
            case "boolean": "boolean"
            case _ where format.hasSuffix("[]"): "array"
            default: "string"
            }
        var property: JSONObject = ["format": .string(format), "type": type]
        if format == "json" || format == "jsonb" { property["type"] = nil }
        if let value = column[2]?.string { property["default"] = .string(value) }
        var notes: [String] = []
        if column[4] == true { notes.append("This is a Primary Key.<pk/>") }
        if let table = column[5]?.string, let key = column[6]?.string {
            notes.append("This is a Foreign Key to `\(table).\(key)`.<fk table='\(table)' column='\(key)'/>")
        }
        if !notes.isEmpty { property["description"] = .string("Note:\n\(notes.joined(separator: "\n"))") }
        return property
    }
}

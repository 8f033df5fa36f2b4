import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// The description of the tables and functions that a caller may use, at the root of the data service.
extension LocalREST {
    /// Parameters: the schema, and the caller's role.
    private static let description = """
        select json_build_array(c.relname, obj_description(c.oid, 'pg_class'),
          (select json_agg(json_build_array(a.attname,
               format_type(case t.typtype when 'd' then t.typbasetype else a.atttypid end, null),
               case when a.attgenerated = '' then pg_get_expr(d.adbin, d.adrelid) end,
               a.attnotnull, coalesce(a.attnum = any (k.conkey), false), f.relname, f.attname, col_description(c.oid, a.attnum),
               (select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid)) order by a.attnum)
           from pg_attribute a join pg_type t on t.oid = a.atttypid
           left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
           left join pg_constraint k on k.conrelid = a.attrelid and k.contype = 'p'
           left join lateral (
             select r.relname, o.attname from pg_constraint x join pg_class r on r.oid = x.confrelid
             join pg_attribute o on o.attrelid = x.confrelid and o.attnum = x.confkey[1]
             where x.conrelid = a.attrelid and x.contype = 'f' and x.conkey = array[a.attnum] limit 1) f on true
           where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped), pg_relation_is_updatable(c.oid, true) & 28 <> 0)
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1 and c.relkind in ('r', 'v', 'm', 'f', 'p') and not c.relispartition
          and (has_any_column_privilege($2, c.oid, 'select, insert, update') or has_table_privilege($2, c.oid, 'delete'))
        order by c.relname
        """

    /// The functions that the caller may call: name, comment, whether it only reads, and its arguments.
    private static let functions = """
        select json_build_array(p.proname, obj_description(p.oid, 'pg_proc'), p.provolatile <> 'v',
          coalesce((select json_agg(json_build_array(coalesce(p.proargnames[i], ''), a.t::regtype::text,
                      i <= p.pronargs - p.pronargdefaults, p.provariadic <> 0 and i = p.pronargs) order by i)
                    from unnest(p.proargtypes) with ordinality as a(t, i)), '[]'))
        from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        where n.nspname = $1 and p.prokind = 'f' and p.prorettype <> 'trigger'::regtype
          and has_function_privilege($2, p.oid, 'execute')
        order by p.proname, p.oid
        """

    /// The schema's own comment; the role does not matter.
    private static let comment = """
        select coalesce(obj_description(n.oid, 'pg_namespace'), '') from pg_namespace n where n.nspname = $1 and $2::text <> ''
        """

    func describe(
        _ schema: String, to role: String, _ request: ServerRequest
    ) async throws(RESTFailure) -> ServerResponse {
        let accepted = RESTMediaType.accepted(request.headers["Accept"])
        guard accepted.contains(where: { RESTDescription.types.contains($0.name) }) else {
            let list = accepted.map(\.text).joined(separator: ", ")
            throw RESTFailure(406, "PGRST107", "None of these media types are available: \(list)")
        }
        let comment = try await lookUp(Self.comment, schema, role).first.map { String(decoding: $0, as: UTF8.self) }
        var description = RESTDescription(comment: comment ?? "", host: request.headers["Host"] ?? "127.0.0.1")
        for bytes in try await lookUp(Self.description, schema, role) {
            if let table = try? JSON(parsing: bytes) { description.add(table: table) }
        }
        for bytes in try await lookUp(Self.functions, schema, role) {
            if let function = try? JSON(parsing: bytes) { description.add(function: function) }
        }
        var response = ServerResponse.json(description.json.bytes())
        response.headers["Content-Type"] = "application/openapi+json; charset=utf-8"
        if schemas.count > 1 { response.headers["Content-Profile"] = schema }
        return response
    }
}

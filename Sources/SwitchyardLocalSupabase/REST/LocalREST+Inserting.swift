import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Inserting rows.
extension LocalREST {
    func insert(
        into table: RESTTable, _ statement: RESTStatement, _ query: RESTQuery, _ call: RESTCall
    ) async throws(RESTFailure) -> ServerResponse {
        let body = try await body(of: call)
        try body.check(against: table)
        for column in call.conflictColumns where table.types[column] == nil { throw .unknownColumn(column, table) }
        return try await insert(body, call.preferences.resolution, into: table, statement, query, call, success: 201)
    }

    /// Writes one complete row at the place that the query names.
    func put(
        into table: RESTTable, _ statement: RESTStatement, _ query: RESTQuery, _ call: RESTCall
    ) async throws(RESTFailure) -> ServerResponse {
        let body = try RESTBody(Array(try await self.body(of: call).whole.utf8), nil)
        try body.check(against: table)
        var named: [String: String] = [:]
        for filter in query.filters {
            guard case .comparison(let column, .compare("=", let value)) = filter, column.steps.isEmpty else {
                throw RESTFailure(
                    405, "PGRST105", "Filters must include all and only primary key columns with 'eq' operators")
            }
            named[column.name] = value
        }
        guard !table.key.isEmpty, Set(named.keys) == Set(table.key) else {
            throw RESTFailure(
                405, "PGRST105", "Filters must include all and only primary key columns with 'eq' operators")
        }
        guard call.limit == nil, call.offset == 0 else {
            throw RESTFailure(400, "PGRST114", "limit/offset querystring parameters are not allowed for PUT")
        }
        guard body.rows.count == 1,
            table.key.allSatisfy({ name in body.rows[0][name].map { $0.string ?? $0.text() } == named[name] })
        else {
            throw RESTFailure(400, "PGRST115", "Payload values do not match URL in primary key column(s)")
        }
        return try await insert(body, .mergeDuplicates, into: table, statement, query, call, success: 201)
    }

    /// The rows of a body, in any supported format.
    func body(of call: RESTCall) async throws(RESTFailure) -> RESTBody {
        let bytes = try await collect(call.request)
        let payload = try RESTPayload(bytes, type: call.contentType, columns: call.columns, isCall: false)
        guard case .rows(let body) = payload else { throw .unreadableBody("Empty or invalid json") }
        return body
    }

    private func insert(
        _ body: RESTBody, _ resolution: RESTPreferences.Resolution?, into table: RESTTable, _ statement: RESTStatement,
        _ query: RESTQuery, _ call: RESTCall, success: Int
    ) async throws(RESTFailure) -> ServerResponse {
        var statement = statement
        let name = RESTStatement.quoted(statement.alias)
        let wantsKey = call.preferences.returning == .headersOnly && !table.key.isEmpty
        let returned =
            wantsKey
            ? table.key.map { "\(name).\(RESTStatement.quoted($0))" }.joined(separator: ", ")
            : returned(name, query, call)
        let deed: RESTPreferences.Deed =
            call.request.method == .put
            ? .put : .insert(resolves: !table.key.isEmpty || !call.conflictColumns.isEmpty)
        guard !body.isEmpty else {
            return try await write(
                "select \(returned) from \(table.quoted) as \(name) where false", statement, query, call, as: deed,
                success: success)
        }
        var sql = "insert into \(table.quoted) as \(name) "
        if body.columns.isEmpty {
            sql += "default values"
        } else {
            let parameter = statement.bind(body.text)
            let columns = body.columns.map(RESTStatement.quoted).joined(separator: ", ")
            sql +=
                "(\(columns)) select \(values(body, table, call).joined(separator: ", ")) from \(source(parameter, table, call))"
            if resolution == .mergeDuplicates { sql += " where \(Self.inserted("+")) <> '0'" }
        }
        let key = call.conflictColumns.isEmpty ? table.key : call.conflictColumns
        if let resolution, !key.isEmpty {
            let place = key.map(RESTStatement.quoted).joined(separator: ", ")
            sql += " on conflict (\(place)) do "
            if resolution == .ignoreDuplicates || body.columns.isEmpty {
                sql += "nothing"
            } else {
                let changes = body.columns.map { "\(RESTStatement.quoted($0)) = excluded.\(RESTStatement.quoted($0))" }
                sql += "update set \(changes.joined(separator: ", ")) where \(Self.inserted("-")) <> '-1'"
            }
        }
        return try await write(
            sql + " returning \(returned)", statement, query, call, as: deed, success: success,
            key: wantsKey ? table.columns.map(\.name).filter(table.key.contains) : nil,
            countsInserted: resolution == .mergeDuplicates && !body.columns.isEmpty)
    }

    /// The rows of a body: in the table's format, or one by one if missing values get their defaults, or if functions make
    /// values of the JSON.
    func source(_ parameter: String, _ table: RESTTable, _ call: RESTCall) -> String {
        let made = table.columns.filter { $0.representation.fromJSON != nil }.compactMap { Self.literal($0.name) }
        guard call.preferences.takesDefaults || !made.isEmpty else {
            return "json_populate_recordset(null::\(table.quoted), \(parameter)::json) as \"request body\""
        }
        let element = "\"pgrst element\" - array[\(made.joined(separator: ", "))]::text[]"
        return """
            jsonb_array_elements(\(parameter)::jsonb) as "pgrst element",
            lateral jsonb_populate_record(null::\(table.quoted), \(element)) as "request body"
            """
    }

    func values(_ body: RESTBody, _ table: RESTTable, _ call: RESTCall) -> [String] {
        let columns = Dictionary(table.columns.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        return body.columns.map { name in
            var column = "\"request body\".\(RESTStatement.quoted(name))"
            guard let literal = Self.literal(name) else { return column }
            if let parser = columns[name]?.representation.fromJSON {
                column = "\(parser)(nullif(\"pgrst element\" -> \(literal), 'null'::jsonb)::json)"
            }
            guard call.preferences.takesDefaults, let value = columns[name]?.defaultValue else { return column }
            return "case when \"pgrst element\" ? \(literal) then \(column) else \(value) end"
        }
    }

    /// The name of a table's column as a string literal.
    static func literal(_ name: String) -> String? {
        name.contains("\\")
            ? nil : "'" + name.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }

    /// Counts new rows in a setting: plus one for each attempted row, minus one for each existing row.
    private static func inserted(_ sign: String) -> String {
        """
        set_config('pgrst.inserted', (coalesce(nullif(current_setting('pgrst.inserted', true), ''), '0')::int \(sign) 1)::text, true)
        """
    }
}

import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Inserting rows.
extension LocalREST {
    func insert(
        into table: RESTTable, _ statement: RESTStatement, _ query: RESTQuery, _ call: RESTCall
    ) async throws(RESTFailure) -> ServerResponse {
        let body = try RESTBody(try await Self.json(collect(call.request), call.request), call.columns)
        try body.check(against: table)
        for column in call.conflictColumns where table.types[column] == nil { throw .unknownColumn(column, table) }
        return try await insert(body, call.preferences.resolution, into: table, statement, query, call, success: 201)
    }

    /// Writes one complete row at the place that the query names.
    func put(
        into table: RESTTable, _ statement: RESTStatement, _ query: RESTQuery, _ call: RESTCall
    ) async throws(RESTFailure) -> ServerResponse {
        let body = try RESTBody(try await collect(call.request), call.columns)
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

    /// A body as JSON, converted from any supported format.
    private static func json(_ bytes: [UInt8], _ request: ServerRequest) throws(RESTFailure) -> [UInt8] {
        switch (request.headers["Content-Type"] ?? "").prefix(while: { $0 != ";" }) {
        case "application/x-www-form-urlencoded":
            guard let form = FormCoding.decode(String(decoding: bytes, as: UTF8.self)) else {
                throw RESTFailure(400, "PGRST102", "Empty or invalid form")
            }
            return JSON.object(JSONObject(form.map { (key: $0.name, value: JSON.string($0.value)) })).bytes()
        case "text/csv":
            let lines = RESTTableText.rows(String(decoding: bytes, as: UTF8.self))
            guard let names = lines.first else { throw RESTFailure(400, "PGRST102", "Empty or invalid csv") }
            let rows = lines.dropFirst().map { line in
                JSON.object(
                    JSONObject(
                        zip(names, line).map { (key: $0, value: $1 == "NULL" ? JSON.null : JSON.string($1)) }))
            }
            guard lines.dropFirst().allSatisfy({ $0.count == names.count }) else {
                throw RESTFailure(400, "PGRST102", "All lines must have same number of fields")
            }
            return JSON.array(rows).bytes()
        default: return bytes
        }
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
        guard !body.rows.isEmpty else {
            return try await write(
                "select \(returned) from \(table.quoted) as \(name) where false", statement, query, call,
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
            sql + " returning \(returned)", statement, query, call, success: success, key: wantsKey ? table.key : nil,
            countsInserted: resolution == .mergeDuplicates && !body.columns.isEmpty)
    }

    /// The rows of a body: in the table's format, or one by one if missing values get their defaults.
    func source(_ parameter: String, _ table: RESTTable, _ call: RESTCall) -> String {
        call.preferences.takesDefaults
            ? """
            jsonb_array_elements(\(parameter)::jsonb) as "pgrst element",
            lateral jsonb_populate_record(null::\(table.quoted), "pgrst element") as "request body"
            """
            : "json_populate_recordset(null::\(table.quoted), \(parameter)::json) as \"request body\""
    }

    func values(_ body: RESTBody, _ table: RESTTable, _ call: RESTCall) -> [String] {
        let defaults = Dictionary(
            table.columns.map { ($0.name, $0.defaultValue) }, uniquingKeysWith: { first, _ in first })
        return body.columns.map { name in
            let column = "\"request body\".\(RESTStatement.quoted(name))"
            guard call.preferences.takesDefaults, let value = defaults[name] ?? nil,
                let literal = Self.literal(name)
            else { return column }
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

/// The rows in a request's body.
struct RESTBody: Sendable {
    let rows: [JSONObject]
    let columns: [String]
    /// A list with the request's own text, so that numbers keep their digits.
    let text: String

    /// - Parameter named: The columns to use; without them, all objects must have the same ones.
    init(_ bytes: [UInt8], _ named: [String]?) throws(RESTFailure) {
        guard let json = try? JSON(parsing: bytes) else { throw RESTFailure(400, "PGRST102", "Empty or invalid json") }
        let given = String(decoding: bytes, as: UTF8.self)
        text = json.array == nil ? "[\(given)]" : given
        switch json {
        case .object(let object): rows = [object]
        case .array(let elements):
            let objects = elements.compactMap(\.object)
            guard objects.count == elements.count else {
                throw RESTFailure(400, "PGRST102", "All elements must be objects")
            }
            rows = objects
        // A plain value has no columns, and so is not a row.
        default: rows = []
        }
        let first = rows.first?.keys ?? []
        guard named != nil || rows.allSatisfy({ Set($0.keys) == Set(first) }) else {
            throw RESTFailure(400, "PGRST102", "All object keys must match")
        }
        columns = named ?? first
    }

    /// Checks that the table has all columns.
    func check(against table: RESTTable) throws(RESTFailure) {
        let types = table.types
        for column in columns where types[column] == nil { throw .unknownColumn(column, table) }
    }
}

extension RESTFailure {
    static func unknownColumn(_ column: String, _ table: RESTTable) -> RESTFailure {
        RESTFailure(400, "PGRST204", "Could not find the '\(column)' column of '\(table.name)' in the schema cache")
    }
}

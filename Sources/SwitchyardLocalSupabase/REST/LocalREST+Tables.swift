import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Tables and views.
extension LocalREST {
    func callTable(_ call: RESTCall) async throws(RESTFailure) -> ServerResponse {
        let table = try await table(call.request.parameters["table"] ?? "", call)
        let call = try await negotiated(call, handlers: table.handlers)
        let statement = RESTStatement(table)
        let query = try await query(call, call.others, of: table.name, as: statement.alias)
        switch call.request.method {
        case .post: return try await insert(into: table, statement, query, call)
        case .put: return try await put(into: table, statement, query, call)
        case .patch: return try await update(table, statement, query, call)
        case .delete: return try await delete(from: table, statement, query, call)
        case .get, .head:
            let source = "\(table.quoted) as \(RESTStatement.quoted(statement.alias))"
            return try await read(source, statement, query, call)
        default: throw .unsupportedMethod(call.request.method)
        }
    }

    func table(_ name: String, _ call: RESTCall) async throws(RESTFailure) -> RESTTable {
        guard let table = try await table(name, of: call.schema) else {
            var failure = RESTFailure(
                404, "PGRST205", "Could not find the table '\(call.schema).\(name)' in the schema cache")
            let others = try await lookUp(RESTTable.names, call.schema, "").map { String(decoding: $0, as: UTF8.self) }
            if let near = RESTFailure.mostAlike(name, among: others, atLeast: 0.75) {
                failure.hint = .string("Perhaps you meant the table '\(call.schema).\(near)'")
            }
            throw failure
        }
        return table
    }

    func table(_ name: String, of schema: String) async throws(RESTFailure) -> RESTTable? {
        try await lookUp(RESTTable.query, schema, name).first.flatMap { RESTTable($0, schema: schema, name: name) }
    }

    // MARK: Updating and deleting

    private func update(
        _ table: RESTTable, _ statement: RESTStatement, _ query: RESTQuery, _ call: RESTCall
    ) async throws(RESTFailure) -> ServerResponse {
        var statement = statement
        let body = try await body(of: call)
        try body.check(against: table)
        try requireConditions(query.filters, "UPDATE")
        let name = RESTStatement.quoted(statement.alias)
        guard !body.columns.isEmpty else {
            // Nothing to set, so no rows are changed.
            return try await write(
                "select \(returned(name, query, call)) from \(table.quoted) as \(name) where false", statement, query,
                call, as: .update, success: 204, rangeStart: 0)
        }
        let parameter = statement.bind(body.text)
        let changes = zip(body.columns, values(body, table, call)).map { "\(RESTStatement.quoted($0)) = \($1)" }
        let sql = """
            update \(table.quoted) as \(name) set \(changes.joined(separator: ", "))
            from \(source(parameter, table, call))
            where \(try statement.conditions(query.filters)) returning \(returned(name, query, call))
            """
        return try await write(sql, statement, query, call, as: .update, success: 204, rangeStart: 0)
    }

    private func delete(
        from table: RESTTable, _ statement: RESTStatement, _ query: RESTQuery, _ call: RESTCall
    ) async throws(RESTFailure) -> ServerResponse {
        var statement = statement
        try requireConditions(query.filters, "DELETE")
        let name = RESTStatement.quoted(statement.alias)
        let sql = """
            delete from \(table.quoted) as \(name) where \(try statement.conditions(query.filters))
            returning \(returned(name, query, call))
            """
        return try await write(sql, statement, query, call, as: .delete, success: 204)
    }

    /// As with the vendor, requires conditions, so that a whole table is not changed by accident.
    private func requireConditions(_ filters: [RESTFilter], _ what: String) throws(RESTFailure) {
        guard filters.isEmpty else { return }
        throw RESTFailure(400, "21000", "\(what) requires a WHERE clause")
    }

    /// The columns that a write returns. Without an answer, no column is named, since that requires the permission to read it.
    func returned(_ name: String, _ query: RESTQuery, _ call: RESTCall) -> String {
        guard call.preferences.returning == .representation else { return "1 as \"written\"" }
        // Only the columns that are requested or lead to related rows, so that an unreadable column that is not requested
        // causes no error.
        let needed = query.joins.map(\.relationship.needed)
        let wanted =
            query.selection.items.map { $0?.column.name }
            + call.order.filter { $0.relation == nil }.map { $0.column.name }
            + needed.flatMap { $0 ?? [] }
        guard !wanted.contains(nil), !needed.contains(nil) else { return "\(name).*" }
        let names = wanted.compactMap { $0 }.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        guard !names.isEmpty else { return "1 as \"written\"" }
        return names.map { "\(name).\(RESTStatement.quoted($0))" }.joined(separator: ", ")
    }

    // MARK: Writing

    /// Runs a statement that writes and returns rows, and creates the answer.
    ///
    /// - Parameters:
    ///   - success: The status if no rows are requested.
    ///   - rangeStart: The start of an update's range; other writes have none.
    func write(
        _ sql: String, _ statement: RESTStatement, _ query: RESTQuery, _ call: RESTCall, as deed: RESTPreferences.Deed,
        success: Int, rangeStart: Int? = nil, key: [String]? = nil, countsInserted: Bool = false
    ) async throws(RESTFailure) -> ServerResponse {
        var statement = statement
        let isAnswered = call.preferences.returning == .representation
        var demands = ""
        if call.isOne { demands += ", " + RESTFailure.demanding("count(*) = 1", or: "PGRST116", "count(*)") }
        if let limit = call.preferences.maximumAffected, call.request.method != .post {
            demands += ", " + RESTFailure.demanding("count(*) <= \(limit)", or: "PGRST124", "count(*)")
        }
        let alias = RESTStatement.quoted(statement.alias)
        var inner = "select 1 from written"
        if isAnswered {
            let joins = try statement.join(query.joins, cap: nil)
            inner =
                "select \(try statement.items(query.selection)) from written as \(alias)\(joins)\(try statement.order(call.order))"
        } else if key != nil {
            inner = "select * from written"
        }
        let content =
            isAnswered
            ? call.form.content(.rows)
            : key == nil ? "null" : "case when count(*) = 1 then json_agg(\(RESTForm.row)) -> 0 end::text"
        let writing = PostgresStatement(
            "with written as (\(sql)), \(RESTForm.rows) as (\(inner)) select \(content), count(*)::text\(demands) from \(RESTForm.rows) as \(RESTForm.row)",
            statement.parameters)
        if case .plan(let plan, of: _) = call.form {
            return try await describe(plan, of: writing, call, readOnly: false)
        }
        let results = try await run(
            [
                writing, PostgresStatement("select current_setting('pgrst.inserted', true)"), Self.responseSettings,
            ], call, readOnly: false)
        let count = Self.count(of: results[0])
        let isUpdateOnly = countsInserted && results[1].text == "0"
        var response = ServerResponse(status: call.request.method == .put ? 204 : isUpdateOnly ? 200 : success)
        if isAnswered {
            response = body(results[0], call)
            if success == 201, !isUpdateOnly { response.status = 201 }
        } else if let key, let row = results[0].text.flatMap({ try? JSON(parsing: $0) }) {
            response.headers["Location"] = Self.location(of: row, key, call)
        }
        let total = call.preferences.counting == nil ? nil : count
        guard call.request.method != .put else {
            say(call.preferences.applied(to: deed), in: &response)
            try apply(results.last, to: &response)
            return response
        }
        response.headers["Content-Range"] =
            rangeStart.map { Self.range(from: $0, count, total) } ?? "*/" + (total.map { "\($0)" } ?? "*")
        say(call.preferences.applied(to: deed), in: &response)
        try apply(results.last, to: &response)
        return response
    }

    private static func location(of row: JSON, _ key: [String], _ call: RESTCall) -> String {
        let items = key.map { name in
            let value = row[name] ?? .null
            return (name: name, value: value.isNull ? "is.null" : "eq." + (value.string ?? value.text()))
        }
        return "/\(PercentCoding.encode(call.request.parameters["table"] ?? ""))?"
            + FormCoding.encode(items, space: .percent)
    }
}

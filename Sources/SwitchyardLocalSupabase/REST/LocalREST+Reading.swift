import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Reading rows.
extension LocalREST {
    /// Reads the rows of a source and creates the answer.
    ///
    /// - Parameters:
    ///   - source: The SQL after `from`; the statement has its parameters.
    ///   - check: A condition that must hold before.
    func read(
        _ source: String, _ statement: RESTStatement, _ query: RESTQuery, _ call: RESTCall, shape: RESTShape = .rows,
        readOnly: Bool = true, isVoid: Bool = false, after check: PostgresStatement? = nil
    ) async throws(RESTFailure) -> ServerResponse {
        // What changes things is called once, also where its rows are counted.
        let isOnce = !readOnly && !shape.isSingle && [.exact, .estimated].contains(call.preferences.counting)
        let (rows, counting) = try statements(source, statement, query, call, shape, isOnce: isOnce)
        if case .plan(let plan, of: _) = call.form {
            return try await describe(plan, of: rows, call, readOnly: readOnly)
        }
        let results = try await run(
            [rows, counting, Self.responseSettings].compactMap { $0 }, call, readOnly: readOnly, after: check)
        let total: Int? =
            switch call.preferences.counting {
            case nil: nil
            case _ where shape.isSingle: 1
            case _ where isOnce: Self.number(results[0].rows.first?.last)
            case .planned: Self.plannedRows(results[1])
            case .exact, .estimated: Self.number(results[1].rows.first?.first)
            }
        return try page(results[0], total: total, settings: results.last, call, shape, isVoid: isVoid)
    }

    /// The statement that gives the rows' result and their number, and one that counts all rows if that is wanted.
    ///
    /// - Parameter isOnce: Whether the first statement counts as well, in its last column.
    private func statements(
        _ source: String, _ statement: RESTStatement, _ query: RESTQuery, _ call: RESTCall, _ shape: RESTShape,
        isOnce: Bool
    ) throws(RESTFailure) -> (rows: PostgresStatement, counting: PostgresStatement?) {
        var statement = statement
        let alias = RESTStatement.quoted(statement.alias)
        let record = "\"pgrst source\".\"record\""
        let once = "\"pgrst source\" as materialized (select \(alias) as \"record\" from \(source)), "
        let origin = isOnce ? "(select (\(record)).* from \"pgrst source\") as \(alias)" : source
        let joined = origin + (try statement.join(query.joins, cap: maximumRows))
        let found = "from \(joined) where \(try statement.conditions(query.filters))"
        let counting = PostgresStatement("select count(*) \(found)", statement.parameters)
        let items = try statement.items(query.selection)
        let grouping = try statement.grouping(query.selection)
        let limit = min(call.limit ?? .max, maximumRows)
        let order = try statement.order(call.order)
        let inner = "select \(items) \(found)\(grouping)\(order) limit \(limit) offset \(call.offset)"
        var results = [call.form.content(shape), shape.isSingle ? "'1'" : "count(*)::text"]
        if call.isOne, !shape.isSingle {
            results.append(RESTFailure.demanding("count(*) = 1", or: "PGRST116", "count(*)"))
        }
        if let limit = call.preferences.maximumAffected, call.request.method == .post, !shape.isSingle {
            results.append(RESTFailure.demanding("count(*) <= \(limit)", or: "PGRST124", "count(*)"))
        }
        if isOnce { results.append("(\(counting.sql))::text") }
        let sql = """
            with \(isOnce ? once : "")\(RESTForm.rows) as (\(inner))
            select \(results.joined(separator: ", ")) from \(RESTForm.rows) as \(RESTForm.row)
            """
        let rows = PostgresStatement(sql, statement.parameters, isPrepared: shape.isSingle)
        switch call.preferences.counting {
        // A single value is one.
        case nil,
            _ where shape.isSingle || isOnce:
            return (rows, nil)
        case .planned:
            return (rows, PostgresStatement("explain (format json) " + counting.sql, counting.parameters))
        case .exact, .estimated: return (rows, counting)
        }
    }

    /// One page of rows, with its range.
    private func page(
        _ result: PostgresResult, total: Int?, settings: PostgresResult?, _ call: RESTCall, _ shape: RESTShape,
        isVoid: Bool
    ) throws(RESTFailure) -> ServerResponse {
        let isTable = call.request.parameters["table"] != nil
        let applied = call.preferences.applied(to: isTable ? .read : .call)
        let count = shape.isSingle ? 1 : Self.count(of: result)
        if let total, call.offset > total {
            var failure = RESTFailure.outOfRange(
                "An offset of \(call.offset) was requested, but there are only \(total) rows.")
            failure.headers = [("Content-Range", "*/\(total)"), ("Content-Location", call.location)]
            if !applied.isEmpty { failure.headers.append(("Preference-Applied", applied.joined(separator: ", "))) }
            throw failure
        }
        var response = isVoid ? ServerResponse(status: 204) : body(result, call)
        response.headers["Content-Range"] = Self.range(from: call.offset, count, total)
        if isTable { response.headers["Content-Location"] = call.location }
        if !isVoid, let total, total > 0, count < total { response.status = 206 }
        say(applied, in: &response)
        try apply(settings, to: &response)
        return response
    }

    /// The result, in the form that `RESTForm.content` gave it.
    func body(_ result: PostgresResult, _ call: RESTCall) -> ServerResponse {
        // A single row that conditions leave out gives nothing at all.
        var bytes = result.rows.isEmpty ? Array("null".utf8) : result.rows[0].first.flatMap { $0 } ?? []
        if case .handled(let handler) = call.form, handler.isBinary {
            // The database writes bytes as “\\x6869”.
            bytes = Hex.decode(String(decoding: bytes.dropFirst(2), as: UTF8.self)) ?? bytes
        }
        var response = ServerResponse(body: bytes)
        response.headers["Content-Type"] = call.form.contentType
        if call.namesSchema { response.headers["Content-Profile"] = call.schema }
        return response
    }

    /// The database's plan of a statement, in place of its result.
    func describe(
        _ plan: RESTPlan, of statement: PostgresStatement, _ call: RESTCall, readOnly: Bool
    ) async throws(RESTFailure) -> ServerResponse {
        let described = PostgresStatement(plan.prefix + statement.sql, statement.parameters)
        let lines = try await run([described], call, readOnly: readOnly)[0].rows.map { row in
            String(decoding: row.first.flatMap { $0 } ?? [], as: UTF8.self)
        }
        var response = ServerResponse(body: Array(lines.joined(separator: "\n").utf8))
        response.headers["Content-Type"] = plan.contentType
        if call.namesSchema { response.headers["Content-Profile"] = call.schema }
        return response
    }

    func say(_ applied: [String], in response: inout ServerResponse) {
        if !applied.isEmpty { response.headers["Preference-Applied"] = applied.joined(separator: ", ") }
    }

    static func count(of result: PostgresResult) -> Int { number(result.rows.first?.dropFirst().first) ?? 0 }

    private static func number(_ value: [UInt8]??) -> Int? {
        value.flatMap { $0 }.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
    }

    static func range(from offset: Int, _ count: Int, _ total: Int?) -> String {
        (count == 0 ? "*" : "\(offset)-\(offset + count - 1)") + "/" + (total.map { "\($0)" } ?? "*")
    }

    private static func plannedRows(_ result: PostgresResult) -> Int? {
        // The count itself is one row; its subplan has the estimated number.
        guard let text = result.text, let json = try? JSON(parsing: text), var plan = json[0]?["Plan"] else {
            return nil
        }
        while plan["Node Type"]?.string == "Aggregate", let next = plan["Plans"]?[0] { plan = next }
        return plan["Plan Rows"]?.int
    }

    // MARK: Responses set by functions

    static let responseSettings = PostgresStatement(
        "select current_setting('response.status', true), current_setting('response.headers', true)", isPrepared: true)

    func apply(_ settings: PostgresResult?, to response: inout ServerResponse) throws(RESTFailure) {
        let row = settings?.rows.first ?? []
        func text(_ index: Int) -> String? {
            guard row.indices.contains(index), let bytes = row[index], !bytes.isEmpty else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
        if let status = text(0) {
            guard let number = Int(status), (200...599).contains(number) else {
                throw RESTFailure(500, "PGRST112", "response.status guc must be a valid status code")
            }
            response.status = number
        }
        guard let headers = text(1) else { return }
        guard let list = (try? JSON(parsing: headers))?.array,
            list.allSatisfy({ $0.object?.members.count == 1 && $0.object?.members.first?.value.string != nil })
        else {
            throw RESTFailure(
                500, "PGRST111",
                "response.headers guc must be a JSON array composed of objects with a single key and a string value")
        }
        let fields = list.compactMap(\.object).flatMap(\.members).filter { field in
            field.value.string?.utf8.allSatisfy { $0 >= 32 } == true
        }
        // They take the place of the service's own; several of one name, such as cookies, all count.
        for field in fields { response.headers[field.key] = nil }
        for field in fields { response.headers.add(field.key, field.value.string ?? "") }
    }
}

import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Reading rows.
extension LocalREST {
    /// Reads the rows of a source and creates the answer.
    ///
    /// - Parameters:
    ///   - source: The SQL after `from`; the statement has its parameters.
    ///   - isScalar: Whether the rows have one column, which is the result itself.
    ///   - check: A condition that must hold before.
    func read(
        _ source: String, _ statement: RESTStatement, _ query: RESTQuery, _ call: RESTCall, isScalar: Bool = false,
        readOnly: Bool = true, after check: PostgresStatement? = nil
    ) async throws(RESTFailure) -> ServerResponse {
        var statement = statement
        let source = source + (try statement.join(query.joins, cap: maximumRows))
        let conditions = try statement.conditions(query.filters)
        let counting = PostgresStatement("select count(*) from \(source) where \(conditions)", statement.parameters)
        let alias = RESTStatement.quoted(statement.alias)
        let items = isScalar ? "\(alias) as \(alias)" : try statement.items(query.selection)
        let grouping = isScalar ? "" : try statement.grouping(query.selection)
        let limit = min(call.limit ?? .max, maximumRows)
        let inner =
            "select \(items) from \(source) where \(conditions)\(grouping)\(try statement.order(call.order)) limit \(limit) offset \(call.offset)"
        let row = isScalar ? "to_json(\"pgrst row\".\(alias))" : "row_to_json(\"pgrst row\")"
        var demand = call.isOne ? ", " + RESTFailure.demanding("count(*) = 1", or: "PGRST116", "count(*)") : ""
        if let limit = call.preferences.maximumAffected, call.request.method == .post {
            demand += ", " + RESTFailure.demanding("count(*) <= \(limit)", or: "PGRST124", "count(*)")
        }
        let rows = PostgresStatement(
            "select coalesce(json_agg(\(row)), '[]')::text, count(*)::text\(demand) from (\(inner)) as \"pgrst row\"",
            statement.parameters)

        var statements = [rows]
        switch call.preferences.counting {
        case .exact?: statements.append(counting)
        case .planned?:
            statements.append(PostgresStatement("explain (format json) " + counting.sql, counting.parameters))
        case .estimated?: statements.append(counting)
        case nil: break
        }
        statements.append(Self.responseSettings)
        let results = try await run(statements, call, readOnly: readOnly, after: check)
        let total =
            statements.count < 3
            ? nil
            : call.preferences.counting == .planned ? Self.plannedRows(results[1]) : results[1].text.flatMap { Int($0) }
        return try page(results[0], total: total, settings: results.last, call)
    }

    /// One page of rows, with its range.
    private func page(
        _ result: PostgresResult, total: Int?, settings: PostgresResult?, _ call: RESTCall
    ) throws(RESTFailure) -> ServerResponse {
        let count = Self.count(of: result)
        if let total, call.offset > total {
            var failure = RESTFailure.outOfRange(
                "An offset of \(call.offset) was requested, but there are only \(total) rows.")
            failure.headers = [("Content-Range", "*/\(total)"), ("Content-Location", call.location)]
            if !call.preferences.applied.isEmpty {
                failure.headers.append(("Preference-Applied", call.preferences.applied.joined(separator: ", ")))
            }
            throw failure
        }
        var response = body(result, call)
        response.headers["Content-Range"] = Self.range(from: call.offset, count, total)
        if call.request.parameters["table"] != nil { response.headers["Content-Location"] = call.location }
        if let total, total > 0, count < total { response.status = 206 }
        say(call.preferences.applied, in: &response)
        try apply(settings, to: &response)
        return response
    }

    /// The rows of a result, in the requested format.
    func body(_ result: PostgresResult, _ call: RESTCall) -> ServerResponse {
        let text = result.text ?? "[]"
        switch call.form {
        case .many(stripsNulls: false): return .json(Array(text.utf8))
        case .many(stripsNulls: true):
            let rows = (try? JSON(parsing: text))?.withoutNulls.text() ?? text
            var response = ServerResponse.json(Array(rows.utf8))
            response.headers["Content-Type"] = "application/vnd.pgrst.array+json;nulls=stripped; charset=utf-8"
            return response
        case .table:
            return .text(Self.table(text), type: "text/csv; charset=utf-8")
        case .one: break
        }
        guard case .one(let stripsNulls) = call.form else { return .json(Array(text.utf8)) }
        // The object is between the brackets of a list with one element.
        var object = String(text.dropFirst().dropLast())
        if stripsNulls, let json = try? JSON(parsing: object) { object = json.withoutNulls.text() }
        var response = ServerResponse.json(Array(object.utf8))
        response.headers["Content-Type"] = "application/vnd.pgrst.object+json; charset=utf-8"
        return response
    }

    /// Rows as comma-separated values, below the names of the columns.
    private static func table(_ text: String) -> String {
        let rows = ((try? JSON(parsing: text))?.array ?? []).compactMap(\.object)
        guard let names = rows.first?.keys else { return "" }
        let lines = rows.map { row in
            names.map { name in
                switch row[name] {
                case nil, .null?: ""
                case .string(let text)?: quoted(text)
                case let value?: quoted(value.text())
                }
            }
        }
        return ([names.map(quoted)] + lines).map { $0.joined(separator: ",") }.joined(separator: "\n")
    }

    private static func quoted(_ text: String) -> String {
        guard text.contains(where: { " ,\"\n\r()\\".contains($0) }) || text.isEmpty else { return text }
        return "\"" + text.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
    }

    func say(_ applied: [String], in response: inout ServerResponse) {
        if !applied.isEmpty { response.headers["Preference-Applied"] = applied.joined(separator: ", ") }
    }

    static func count(of result: PostgresResult) -> Int {
        result.rows.first?.dropFirst().first.flatMap { $0 }.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
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
                throw RESTFailure(500, "PGRST112", "response.status setting must be a valid status code")
            }
            response.status = number
        }
        guard let headers = text(1) else { return }
        guard let list = (try? JSON(parsing: headers))?.array else {
            throw RESTFailure(500, "PGRST111", "response.headers setting must be a list of objects with one pair each")
        }
        for pair in list.compactMap(\.object).flatMap({ $0.members }) {
            guard let value = pair.value.string, value.utf8.allSatisfy({ $0 >= 32 }) else { continue }
            response.headers[pair.key] = value
        }
    }
}

extension JSON {
    /// Without null members, at all depths.
    fileprivate var withoutNulls: JSON {
        switch self {
        case .object(let object):
            .object(
                JSONObject(
                    object.filter { !$0.value.isNull }.map { (key: $0.key, value: $0.value.withoutNulls) }))
        case .array(let elements): .array(elements.map(\.withoutNulls))
        default: self
        }
    }
}

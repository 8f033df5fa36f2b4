import Switchyard
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Calls of functions in the database.
extension LocalREST {
    func callFunction(_ call: RESTCall) async throws(RESTFailure) -> ServerResponse {
        let name = call.request.parameters["function"] ?? ""
        let body = call.request.method == .post ? try await collect(call.request) : []
        if let known = functions.candidates(call.schema, name) {
            do throws(RESTFailure) {
                return try await self.call(name, body, call, among: known)
            } catch {
                // Other functions may match where these did not.
                guard KnownFunctions.haveChanged(error) || error.code.hasPrefix("PGRST20") else { throw error }
            }
        }
        let found = try await lookUp(RESTFunction.query, call.schema, name).compactMap {
            RESTFunction($0, schema: call.schema, name: name)
        }
        functions.keep(found, call.schema, name)
        return try await self.call(name, body, call, among: found)
    }

    private func call(
        _ name: String, _ body: [UInt8], _ call: RESTCall, among candidates: [RESTFunction]
    ) async throws(RESTFailure) -> ServerResponse {
        let check = KnownFunctions.check(candidates)
        guard call.request.method == .post else {
            // As with the vendor, the value says whether a parameter is a condition on the rows, even if an argument has its
            // name.
            let conditions = call.others.filter { RESTFilter.isGroup($0.name) || RESTOperation.isOne($0.value) }
            let given = call.others.filter { !(RESTFilter.isGroup($0.name) || RESTOperation.isOne($0.value)) }
            let names = Set(given.map(\.name))
            let function = try await choose(name, among: candidates, taking: names, call)
            return try await self.call(
                function, Self.arguments(given, of: function), conditions, call, readOnly: true, check)
        }
        if let function = candidates.first(where: \.takesBody), candidates.count == 1 {
            return try await self.call(function, text: String(decoding: body, as: UTF8.self), call, check)
        }
        let arguments = try object(body)
        let function = try await choose(name, among: candidates, taking: Set(arguments.keys), call)
        return try await self.call(
            function, arguments, call.others, call, readOnly: function.isStable, check)
    }

    private func call(
        _ function: RESTFunction, _ arguments: JSONObject, _ conditions: [(name: String, value: String)],
        _ call: RESTCall, readOnly: Bool, _ check: PostgresStatement?
    ) async throws(RESTFailure) -> ServerResponse {
        var statement = RESTStatement(alias: "pgrst_call")
        let query = try await query(call, conditions, of: function.relation ?? function.name, as: statement.alias)
        let parameter = statement.bind(JSON.object(arguments).text())
        let source = function.source(calledWith: arguments, parameter, alias: statement.alias)
        if function.isSet {
            return try await read(
                source, statement, query, call, isScalar: !function.isComposite, readOnly: readOnly, after: check)
        }
        return try await single(function, source, statement, query, call, readOnly: readOnly, check)
    }

    /// Calls a function whose only, nameless argument is the body.
    private func call(
        _ function: RESTFunction, text: String, _ call: RESTCall, _ check: PostgresStatement?
    ) async throws(RESTFailure) -> ServerResponse {
        let name = RESTStatement.quoted(function.schema) + "." + RESTStatement.quoted(function.name)
        let statement = RESTStatement(alias: "pgrst_call", parameters: [text])
        let query = try await query(call, [], of: function.relation ?? function.name, as: statement.alias)
        return try await single(
            function, "\(name)($1::\(function.arguments[0].type)) as \"pgrst_call\"", statement, query, call,
            readOnly: function.isStable, check)
    }

    private func single(
        _ function: RESTFunction, _ source: String, _ statement: RESTStatement, _ query: RESTQuery, _ call: RESTCall,
        readOnly: Bool, _ check: PostgresStatement?
    ) async throws(RESTFailure) -> ServerResponse {
        var statement = statement
        var value = "to_json(\"pgrst_call\")"
        if let output = function.output {
            // A single named value is an object with one member.
            value = "json_build_object(\(Self.literal(output) ?? "''"), \"pgrst_call\")"
        } else if function.isComposite, !query.selection.isEverything {
            let joins = try statement.join(query.joins, cap: maximumRows)
            let items = try statement.items(query.selection)
            value =
                "(select row_to_json(\"pgrst row\") from (select \(items) from (select) as \"pgrst one\"\(joins)) as \"pgrst row\")"
        }
        let results = try await run(
            [
                PostgresStatement("select \(value)::text from \(source)", statement.parameters, isKept: true),
                Self.responseSettings,
            ], call, readOnly: readOnly, after: check)
        var response =
            function.isVoid ? ServerResponse(status: 204) : .json(Array((results[0].text ?? "null").utf8))
        response.headers["Content-Range"] = "0-0/" + (call.preferences.counting == nil ? "*" : "1")
        if !function.isVoid, case .one = call.form {
            response.headers["Content-Type"] = "application/vnd.pgrst.object+json; charset=utf-8"
        }
        say(call.preferences.applied, in: &response)
        try apply(results.last, to: &response)
        return response
    }

    /// For a variadic argument, collects all values with its name.
    private static func arguments(_ given: [(name: String, value: String)], of function: RESTFunction) -> JSONObject {
        var arguments: JSONObject = [:]
        for (name, value) in given {
            if function.isVariadic, name == function.arguments.last?.name {
                arguments[name] = .array((arguments[name]?.array ?? []) + [.string(value)])
            } else {
                arguments[name] = .string(value)
            }
        }
        return arguments
    }

    private func choose(
        _ name: String, among candidates: [RESTFunction], taking arguments: Set<String>, _ call: RESTCall
    ) async throws(RESTFailure) -> RESTFunction {
        let fitting = candidates.filter { $0.accepts(arguments) }
        guard let function = fitting.first else {
            let known = try await lookUp(RESTFunction.names, call.schema, "").map {
                String(decoding: $0, as: UTF8.self)
            }
            throw .unknownFunction(name, among: candidates, taking: arguments.sorted(), known: known, call)
        }
        guard fitting.count == 1 else { throw .ambiguousFunction(fitting) }
        return function
    }

    // MARK: Bodies

    func collect(_ request: ServerRequest) async throws(RESTFailure) -> [UInt8] {
        do throws(ServerError) { return try await request.body.collect() } catch {
            throw RESTFailure(400, "PGRST102", "The body did not arrive")
        }
    }

    private func object(_ bytes: [UInt8]) throws(RESTFailure) -> JSONObject {
        if bytes.isEmpty { return [:] }
        guard let object = (try? JSON(parsing: bytes))?.object else {
            throw RESTFailure(400, "PGRST102", "Empty or invalid json")
        }
        return object
    }
}

extension RESTFailure {
    /// An unknown function, with the one that was probably meant.
    fileprivate static func unknownFunction(
        _ name: String, among candidates: [RESTFunction], taking arguments: [String], known: [String], _ call: RESTCall
    ) -> RESTFailure {
        let list = arguments.joined(separator: ", ")
        var failure = RESTFailure(
            404, "PGRST202",
            "Could not find the function \(call.schema).\(name)\(list.isEmpty ? " without parameters" : "(\(list))") "
                + "in the schema cache")
        let what =
            arguments.isEmpty
            ? "without parameters" : "with \(arguments.count == 1 ? "parameter" : "parameters") \(list)"
        let body = call.request.method == .post ? " or with a single unnamed json/jsonb parameter" : ""
        failure.details = .string(
            "Searched for the function \(call.schema).\(name) \(what)\(body), "
                + "but no matches were found in the schema cache.")
        let near =
            candidates.isEmpty
            ? nearestName(to: name, in: known.map { String($0.prefix { $0 != "(" }) })
            : known.first { $0.hasPrefix(name + "(") }
        failure.hint =
            near.map { .string("Perhaps you meant to call the function \(call.schema).\($0)") } ?? .null
        return failure
    }

    fileprivate static func ambiguousFunction(_ fitting: [RESTFunction]) -> RESTFailure {
        let list = fitting.map { function in
            let arguments = function.arguments.map { "\($0.name) => \($0.type)" }.joined(separator: ", ")
            return "\(function.schema).\(function.name)(\(arguments))"
        }
        var failure = RESTFailure(
            300, "PGRST203",
            "Could not choose the best candidate function between: \(list.joined(separator: ", "))")
        failure.hint = .string(
            "Try renaming the parameters or the function itself in the database so function overloading can be resolved"
        )
        return failure
    }
}

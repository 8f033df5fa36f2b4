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
            // A parameter that is not an argument of the function is a condition on its rows.
            let known = Set(candidates.flatMap { $0.arguments.map(\.name) })
            let given = call.others.filter { item in
                known.contains(item.name) || !(RESTOperation.begins(item.value) || RESTFilter.isGroup(item.name))
            }
            let function = try choose(name, among: candidates, taking: Set(given.map(\.name)))
            let arguments = Self.arguments(given, of: function)
            let conditions = call.others.filter { item in
                !known.contains(item.name) && (RESTOperation.begins(item.value) || RESTFilter.isGroup(item.name))
            }
            return try await self.call(function, arguments, conditions, call, readOnly: true, check)
        }
        if let function = candidates.first(where: \.takesBody), candidates.count == 1 {
            return try await self.call(function, text: String(decoding: body, as: UTF8.self), call, check)
        }
        let arguments = try object(body)
        let function: RESTFunction
        do throws(RESTFailure) {
            function = try choose(name, among: candidates, taking: Set(arguments.keys))
        } catch {
            throw try await error.withNearest(to: name, among: candidates, taking: arguments.keys, call, self)
        }
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
        _ name: String, among candidates: [RESTFunction], taking arguments: Set<String>
    ) throws(RESTFailure) -> RESTFunction {
        let fitting = candidates.filter { $0.accepts(arguments) }
        guard let function = fitting.first else {
            let list = arguments.sorted().joined(separator: ", ")
            throw RESTFailure(
                404, "PGRST202",
                "Could not find the function public.\(name)\(list.isEmpty ? " without parameters" : "(\(list))") in the schema cache"
            )
        }
        guard fitting.count == 1 else {
            throw RESTFailure(300, "PGRST203", "Could not choose the best candidate function among \(fitting.count)")
        }
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
    fileprivate func withNearest(
        to name: String, among candidates: [RESTFunction], taking arguments: [String], _ call: RESTCall,
        _ rest: LocalREST
    ) async throws(RESTFailure) -> RESTFailure {
        guard code == "PGRST202" else { return self }
        var failure = self
        let list = arguments.sorted().joined(separator: ", ")
        let what =
            arguments.isEmpty
            ? "without parameters" : "with \(arguments.count == 1 ? "parameter" : "parameters") \(list)"
        failure.details = .string(
            "Searched for the function \(call.schema).\(name) \(what) or with a single unnamed json/jsonb parameter, "
                + "but no matches were found in the schema cache.")
        let known = try await rest.lookUp(RESTFunction.names, call.schema, "").map {
            String(decoding: $0, as: UTF8.self)
        }
        if candidates.isEmpty {
            let names = known.map { String($0.prefix { $0 != "(" }) }
            if let near = nearestName(to: name, in: names) {
                failure.hint = .string("Perhaps you meant to call the function \(call.schema).\(near)")
            }
        } else if let near = known.first(where: { $0.hasPrefix(name + "(") }) {
            failure.hint = .string("Perhaps you meant to call the function \(call.schema).\(near)")
        }
        return failure
    }
}

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
                // Others may fit what those did not.
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
            // What is no argument of the function is a condition on its rows.
            let known = Set(candidates.flatMap { $0.arguments.map(\.name) })
            let given = call.others.filter { known.contains($0.name) || !RESTOperation.begins($0.value) }
            let function = try choose(name, among: candidates, taking: Set(given.map(\.name)))
            let arguments = JSONObject(given.map { (key: $0.name, value: JSON.string($0.value)) })
            var filters: [RESTFilter] = []
            for (name, value) in call.others where !known.contains(name) && RESTOperation.begins(value) {
                filters.append(try RESTFilter(name: name, value: value))
            }
            return try await self.call(function, arguments, filters, call, readOnly: true, check)
        }
        if let function = candidates.first(where: \.takesBody), candidates.count == 1 {
            return try await self.call(function, text: String(decoding: body, as: UTF8.self), call, check)
        }
        let arguments = try object(body)
        let function = try choose(name, among: candidates, taking: Set(arguments.keys))
        return try await self.call(
            function, arguments, try call.filters(), call, readOnly: function.isStable, check)
    }

    private func call(
        _ function: RESTFunction, _ arguments: JSONObject, _ filters: [RESTFilter], _ call: RESTCall, readOnly: Bool,
        _ check: PostgresStatement?
    ) async throws(RESTFailure) -> ServerResponse {
        var statement = RESTStatement(alias: "pgrst_call")
        let parameter = statement.bind(JSON.object(arguments).text())
        let source = function.source(calledWith: arguments, parameter, alias: statement.alias)
        if function.isSet {
            return try await read(
                source, statement, filters, call, isScalar: !function.isComposite, readOnly: readOnly, after: check)
        }
        return try await single(function, source, statement.parameters, call, readOnly: readOnly, check)
    }

    /// A function whose only, nameless argument is the body.
    private func call(
        _ function: RESTFunction, text: String, _ call: RESTCall, _ check: PostgresStatement?
    ) async throws(RESTFailure) -> ServerResponse {
        let name = RESTStatement.quoted(function.schema) + "." + RESTStatement.quoted(function.name)
        return try await single(
            function, "\(name)($1::\(function.arguments[0].type)) as \"pgrst_call\"", [text], call,
            readOnly: function.isStable, check)
    }

    private func single(
        _ function: RESTFunction, _ source: String, _ parameters: [String?], _ call: RESTCall, readOnly: Bool,
        _ check: PostgresStatement?
    ) async throws(RESTFailure) -> ServerResponse {
        let results = try await run(
            [
                PostgresStatement("select to_json(\"pgrst_call\")::text from \(source)", parameters, isKept: true),
                Self.responseSettings,
            ], call, readOnly: readOnly, after: check)
        var response =
            function.isVoid ? ServerResponse(status: 204) : .json(Array((results[0].text ?? "null").utf8))
        if !function.isVoid, case .one = call.form {
            response.headers["Content-Type"] = "application/vnd.pgrst.object+json; charset=utf-8"
        }
        say(call.preferences.applied, in: &response)
        try apply(results.last, to: &response)
        return response
    }

    private func choose(
        _ name: String, among candidates: [RESTFunction], taking arguments: Set<String>
    ) throws(RESTFailure) -> RESTFunction {
        let fitting = candidates.filter { $0.accepts(arguments) }
        guard let function = fitting.first else {
            let list = arguments.sorted().joined(separator: ", ")
            throw RESTFailure(
                404, "PGRST202", "Could not find the function public.\(name)(\(list)) in the schema cache")
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

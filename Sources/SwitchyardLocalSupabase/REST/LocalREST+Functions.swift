import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Calls of functions in the database.
extension LocalREST {
    func callFunction(_ call: RESTCall) async throws(RESTFailure) -> ServerResponse {
        guard [HTTPMethod.get, .head, .post].contains(call.request.method) else {
            throw RESTFailure(405, "PGRST101", "Cannot use the \(call.request.method.rawValue) method on RPC")
        }
        let name = call.request.parameters["function"] ?? ""
        let isPost = call.request.method == .post
        let payload =
            isPost
            ? try RESTPayload(
                try await collect(call.request), type: call.contentType, columns: call.columns, isCall: true) : nil
        if let known = functions.candidates(call.schema, name) {
            do throws(RESTFailure) {
                return try await self.call(name, payload, call, among: known)
            } catch {
                // Other functions may match where these did not.
                guard KnownFunctions.haveChanged(error) || error.code.hasPrefix("PGRST20") else { throw error }
            }
        }
        let found = try await lookUp(RESTFunction.query, call.schema, name).compactMap {
            RESTFunction($0, schema: call.schema, name: name)
        }
        functions.keep(found, call.schema, name)
        return try await self.call(name, payload, call, among: found)
    }

    /// - Parameter payload: The body; `nil` if the query has the arguments.
    private func call(
        _ name: String, _ payload: RESTPayload?, _ call: RESTCall, among candidates: [RESTFunction]
    ) async throws(RESTFailure) -> ServerResponse {
        var conditions = call.others
        var fields: [(name: String, value: String)] = []
        if payload == nil {
            // As with the vendor, the value says whether a parameter is a condition on the rows, even if an argument has its
            // name.
            let isCondition = { (item: (name: String, value: String)) in
                RESTFilter.isGroup(item.name) || RESTOperation.isOne(item.value)
            }
            conditions = call.others.filter(isCondition)
            fields = call.others.filter { !isCondition($0) }
        }
        if case .fields(let given)? = payload { fields = given }
        var names = Set(fields.map(\.name))
        if case .rows(let body)? = payload { names = Set(body.columns) }
        let function = try await choose(name, among: candidates, taking: names, isPost: payload != nil, call)
        let call = try await negotiated(call, handlers: function.handlers)
        guard call.preferences.maximumAffected == nil || function.isSet else { throw .limitOfOne }
        var statement = RESTStatement(alias: function.label)
        if let relation = function.relation, let table = try await table(relation.name, of: relation.schema) {
            statement = RESTStatement(table)
        }
        let query = try await query(call, conditions, of: function.label, as: statement.alias)
        let source =
            switch payload {
            case .rows(let body)? where function.takesWhole(call.contentType) && !function.accepts(names):
                function.source(calledWith: Array(body.whole.utf8), &statement)
            case .rows(let body)?: function.source(calledWith: names, &statement, body: body.text)
            case .whole(let bytes)? where function.takesWhole(call.contentType):
                function.source(calledWith: bytes, &statement)
            case .fields?, .whole?, nil: function.source(calledWith: fields, &statement)
            }
        return try await read(
            source, statement, query, call, shape: function.shape, readOnly: payload == nil || function.isStable,
            isVoid: function.isVoid, after: KnownFunctions.check(candidates))
    }

    func choose(
        _ name: String, among candidates: [RESTFunction], taking arguments: Set<String>, isPost: Bool, _ call: RESTCall
    ) async throws(RESTFailure) -> RESTFunction {
        let callable = candidates.filter(\.isCallable)
        let takesBytes = isPost && RESTFailure.wholeTypes[call.contentType.name] != nil
        let fitting = callable.filter { $0.accepts(arguments) && !(takesBytes && $0.arguments.isEmpty) }
        let whole = isPost ? callable.filter { $0.takesWhole(call.contentType) && !$0.accepts(arguments) } : []
        let best = fitting.isEmpty ? whole : fitting
        guard let function = best.first else {
            let known = try await lookUp(RESTFunction.names, call.schema, "").map {
                String(decoding: $0, as: UTF8.self)
            }
            throw .unknownFunction(
                name, among: callable, taking: arguments.sorted(), isPost: isPost, known: known, call)
        }
        guard best.count == 1 else { throw .ambiguousFunction(best) }
        return function
    }

    func collect(_ request: ServerRequest) async throws(RESTFailure) -> [UInt8] {
        do throws(ServerError) { return try await request.body.collect() } catch {
            throw .unreadableBody("The body did not arrive")
        }
    }
}

extension RESTFailure {
    fileprivate static let limitOfOne = RESTFailure(
        400, "PGRST128",
        "Function must return SETOF or TABLE when max-affected preference is used with handling=strict")

    /// The types of bodies that are one argument, with the type of that argument.
    fileprivate static let wholeTypes = [
        "text/plain": "text", "text/xml": "xml", "application/octet-stream": "bytea",
    ]

    /// An unknown function, with the one that was probably meant.
    fileprivate static func unknownFunction(
        _ name: String, among candidates: [RESTFunction], taking arguments: [String], isPost: Bool, known: [String],
        _ call: RESTCall
    ) -> RESTFailure {
        let full = "\(call.schema).\(name)"
        let list = arguments.joined(separator: ", ")
        let wholeType = isPost ? wholeTypes[call.contentType.name] : nil
        let named = wholeType != nil ? "" : arguments.isEmpty ? " without parameters" : "(\(list))"
        var failure = RESTFailure(404, "PGRST202", "Could not find the function \(full)\(named) in the schema cache")
        var what =
            arguments.isEmpty ? " without parameters" : " with parameter\(arguments.count == 1 ? "" : "s") \(list)"
        if let wholeType {
            what = " with a single unnamed \(wholeType) parameter"
        } else if isPost, call.contentType.name == "application/json" {
            what += " or with a single unnamed json/jsonb parameter"
        }
        failure.details = .string(
            "Searched for the function \(full)\(what), but no matches were found in the schema cache.")
        guard wholeType == nil else { return failure }
        let lists = candidates.map { "(\($0.arguments.map(\.name).sorted().joined(separator: ", ")))" }
        let near =
            candidates.isEmpty
            ? mostAlike(name, among: known, atLeast: 0.75)
            : mostAlike("(\(list))", among: lists, includesSame: true).map { name + $0 }
        failure.hint =
            near.map { .string("Perhaps you meant to call the function \(call.schema).\($0)") } ?? .null
        return failure
    }

    fileprivate static func ambiguousFunction(_ fitting: [RESTFunction]) -> RESTFailure {
        // As with the vendor, those with fewer arguments come first.
        let sorted = fitting.sorted { one, other in
            let lists = [one, other].map { $0.arguments.flatMap { [$0.name, $0.type] } }
            return one.arguments.count == other.arguments.count
                ? lists[0].lexicographicallyPrecedes(lists[1]) : one.arguments.count < other.arguments.count
        }
        let list = sorted.map { function in
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

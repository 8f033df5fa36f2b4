import SwitchyardServerKit
import SwitchyardWire

/// Answers that say what can be done with something.
extension LocalREST {
    func methods(ofTable call: RESTCall) async throws(RESTFailure) -> ServerResponse {
        .methods(try await table(call.request.parameters["table"] ?? "", call).methods)
    }

    func methods(ofFunction call: RESTCall) async throws(RESTFailure) -> ServerResponse {
        let name = call.request.parameters["function"] ?? ""
        let found = try await lookUp(RESTFunction.query, call.schema, name).compactMap {
            RESTFunction($0, schema: call.schema, name: name)
        }
        let function = try await choose(
            name, among: found, taking: Set(call.others.map(\.name)), isPost: false, call)
        return .methods(function.isStable ? "OPTIONS,GET,HEAD,POST" : "OPTIONS,POST")
    }
}

extension ServerResponse {
    /// The answer to `OPTIONS`, for pages of every origin.
    static func methods(_ methods: String) -> ServerResponse {
        ServerResponse(headers: ["Allow": methods, "Access-Control-Allow-Origin": "*"])
    }
}

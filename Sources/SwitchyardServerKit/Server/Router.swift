import SwitchyardBytes
package import SwitchyardWire

/// Finds the handler of a request by its method and path pattern.
///
/// A pattern is a path whose segments are literal text, `{name}` for one segment, or, as the last one, `{name...}` for all
/// remaining segments, at least one. Either may be followed by a literal suffix, as in
/// `/v1/{database}/documents/{path...}:commit`. The matches are decoded into `parameters`; those of several segments keep their
/// slashes. The first matching route is used, so add the more specific ones first.
package struct Router: Sendable {
    package typealias Handler = LoopbackServer.Handler

    fileprivate struct Route: Sendable {
        let method: HTTPMethod?
        let pattern: PathPattern
        let handler: Handler
    }

    private var routes: [Route] = []

    package init() {}

    /// - Parameter method: `nil` for every method. A route for GET also answers HEAD.
    package mutating func on(_ method: HTTPMethod?, _ pattern: String, _ handler: @escaping Handler) {
        routes.append(Route(method: method, pattern: PathPattern(pattern), handler: handler))
    }

    /// The answer of the route; 404 if no pattern matches, 405 if only the method differs.
    package func handle(_ request: ServerRequest) async -> ServerResponse {
        var allowed: [String] = []
        let path = ServerPath(request.rawPath)
        for route in routes {
            guard let parameters = route.pattern.match(path) else { continue }
            guard route.accepts(request.method) else {
                if let method = route.method { allowed.append(method.rawValue) }
                continue
            }
            var request = request
            request.parameters = parameters
            return await route.handler(request)
        }
        // Name the missing route: an empty answer would make users look for their own mistakes.
        var response = ServerResponse.json(
            JSON.object([
                "message": .string("This local server has no \(request.method.rawValue) \(request.rawPath).")
            ]).bytes(), status: allowed.isEmpty ? 404 : 405)
        if !allowed.isEmpty { response.headers["Allow"] = allowed.joined(separator: ", ") }
        return response
    }
}

extension Router.Route {
    fileprivate func accepts(_ wanted: HTTPMethod) -> Bool {
        method == nil || method == wanted || (method == .get && wanted == .head)
    }
}

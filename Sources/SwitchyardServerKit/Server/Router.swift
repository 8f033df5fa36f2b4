import SwitchyardBytes
package import SwitchyardWire

/// Finds the handler of a request by its method and the pattern of its path.
///
/// A pattern is a path whose segments are literal text, `{name}` for one segment, or, as the last one, `{name...}` for all
/// that is left, at least one segment; either may be followed by a literal ending, as in
/// `/v1/{database}/documents/{path...}:commit`. What the placeholders match is decoded into `parameters`, where segments of a
/// rest keep their slashes. The first route that matches wins, so add the more specific ones first.
package struct Router: Sendable {
    package typealias Handler = LoopbackServer.Handler

    fileprivate struct Route: Sendable {
        let method: HTTPMethod?
        let pattern: PathPattern
        let handler: Handler
    }

    private var routes: [Route] = []

    package init() {}

    /// - Parameter method: `nil` for every method. A route for GET answers HEAD too.
    package mutating func on(_ method: HTTPMethod?, _ pattern: String, _ handler: @escaping Handler) {
        routes.append(Route(method: method, pattern: PathPattern(pattern), handler: handler))
    }

    /// The answer of the route, 404 when no pattern matches, 405 when only methods differ.
    package func handle(_ request: ServerRequest) async -> ServerResponse {
        var allowed: [String] = []
        for route in routes {
            guard let parameters = route.pattern.match(request.rawPath) else { continue }
            guard route.accepts(request.method) else {
                if let method = route.method { allowed.append(method.rawValue) }
                continue
            }
            var request = request
            request.parameters = parameters
            return await route.handler(request)
        }
        // A missing route says so in words: an empty answer would make people look for a mistake of their own.
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

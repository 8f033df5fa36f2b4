import SwitchyardWire

/// What browsers expect of the answers of a server that is not where their page came from.
package struct CrossOrigin: Sendable {
    package let router: Router
    /// Header fields that pages may read, beyond those that every page may.
    package let exposed: String
    /// Where the beginning of paths is this, answers are left as they are.
    package let exception: String?

    package init(router: Router, exposed: String = "", exception: String? = nil) {
        self.router = router
        self.exposed = exposed
        self.exception = exception
    }

    package func answer(_ request: ServerRequest) async -> ServerResponse {
        if let exception, request.rawPath.hasPrefix(exception) { return await router.handle(request) }
        if request.method == .options, request.headers["Access-Control-Request-Method"] != nil || exposed.isEmpty {
            return ServerResponse(
                status: 204,
                headers: [
                    "Access-Control-Allow-Origin": request.headers["Origin"] ?? "*",
                    "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
                    "Access-Control-Allow-Headers": request.headers["Access-Control-Request-Headers"] ?? "*",
                ])
        }
        var response = await router.handle(request)
        if let origin = request.headers["Origin"] {
            response.headers["Access-Control-Allow-Origin"] = origin
            if !exposed.isEmpty { response.headers["Access-Control-Expose-Headers"] = exposed }
        }
        return response
    }
}

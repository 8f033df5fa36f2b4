import SwitchyardWire

/// The CORS headers that browsers expect from a server with another origin. Which origins get an answer at all is for
/// `ServerVisitors` to say.
package struct CrossOrigin: Sendable {
    package let router: Router
    /// Additional header fields that pages may read.
    package let exposed: String
    /// Responses for paths with this prefix are left unchanged.
    package let exception: String?
    /// Whether pages may send credentials, as some clients do with every request.
    package let allowsCredentials: Bool
    /// Whether the router answers `OPTIONS` requests that are not CORS preflights.
    package let answersOptions: Bool
    /// For paths with these prefixes, the router answers preflights too.
    package let ownPreflights: [String]

    package init(
        router: Router, exposed: String, exception: String? = nil, allowsCredentials: Bool = false,
        answersOptions: Bool = false, ownPreflights: [String] = []
    ) {
        self.router = router
        self.exposed = exposed
        self.exception = exception
        self.allowsCredentials = allowsCredentials
        self.answersOptions = answersOptions
        self.ownPreflights = ownPreflights
    }

    package func answer(_ request: ServerRequest) async -> ServerResponse {
        if let exception, request.rawPath.hasPrefix(exception) { return await router.handle(request) }
        let isPreflight = request.headers["Access-Control-Request-Method"] != nil || !answersOptions
        if request.method == .options, isPreflight, !ownPreflights.contains(where: { request.rawPath.hasPrefix($0) }) {
            var response = ServerResponse(
                status: 204,
                headers: [
                    "Access-Control-Allow-Origin": request.headers["Origin"] ?? "*",
                    "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
                    "Access-Control-Allow-Headers": request.headers["Access-Control-Request-Headers"] ?? "*",
                ])
            permit(request.headers["Origin"], in: &response)
            return response
        }
        var response = await router.handle(request)
        if let origin = request.headers["Origin"] { response.headers["Access-Control-Allow-Origin"] = origin }
        permit(request.headers["Origin"], in: &response)
        if request.headers["Origin"] != nil, response.headers["Access-Control-Expose-Headers"] == nil {
            response.headers["Access-Control-Expose-Headers"] = exposed
        }
        return response
    }

    private func permit(_ origin: String?, in response: inout ServerResponse) {
        guard origin != nil, allowsCredentials else { return }
        response.headers["Access-Control-Allow-Credentials"] = "true"
        response.headers["Vary"] = "Origin"
    }
}

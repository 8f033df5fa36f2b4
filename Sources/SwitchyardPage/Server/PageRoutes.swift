import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// The paths of the page.
struct PageRoutes: Sendable {
    private let site: PageSite
    private let router: Router

    init(_ site: PageSite) {
        self.site = site
        var router = Router()
        router.on(.get, "/") { _ in PageAssets.answer("index.html") }
        router.on(.get, "/assets/{name}") { PageAssets.answer($0.parameters["name"] ?? "") }
        router.on(.get, "/api/site") { _ in .json(site.json.bytes()) }
        router.on(.get, "/api/events") { EventStreamRoute(site.hub).answer($0) }
        Self.addData(to: &router, site)
        self.router = router
    }

    func answer(_ request: ServerRequest) async -> ServerResponse {
        let isAPI = request.rawPath.hasPrefix("/api")
        if isAPI, let key = site.options.key, !Self.matches(request, key) {
            let failure = PageFailure(
                401, "unauthenticated", "Open the page at the address that the tool printed: it contains a key.")
            return Self.guarded(failure.response)
        }
        let response = await router.handle(request)
        return isAPI ? Self.guarded(response) : response
    }

    private static func matches(_ request: ServerRequest, _ key: String) -> Bool {
        let given = request.headers["X-Page-Key"] ?? request.query("key") ?? ""
        return HMACSHA256.areEqual(Array(given.utf8), Array(key.utf8))
    }

    private static func guarded(_ response: ServerResponse) -> ServerResponse {
        var response = response
        response.headers["Cache-Control"] = "no-store"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response
    }

    // MARK: Routes

    private static func addData(to router: inout Router, _ site: PageSite) {
        on(.get, "collections", &router, site) { try await DataRoutes(backend: $1).collections($0) }
        on(.post, "query", &router, site) { try await DataRoutes(backend: $1).query($0) }
        on(.post, "count", &router, site) { try await DataRoutes(backend: $1).count($0) }
        on(.post, "get", &router, site) { try await DataRoutes(backend: $1).get($0) }
        on(.post, "write", &router, site) { try await DataRoutes(backend: $1).write($0) }
        on(.post, "watch", &router, site) { try await site.watches.start($0, on: $1) }
        on(.delete, "watch/{id}", &router, site) {
            site.watches.end($0.parameter("id"), on: $1)
            return [:]
        }
    }

    /// A call on a backend, whose answer is JSON.
    static func on(
        _ method: HTTPMethod, _ path: String, _ router: inout Router, _ site: PageSite,
        _ answer: @escaping @Sendable (PageCall, PageBackend) async throws -> JSON
    ) {
        router.on(method, "/api/b/{backend}/" + path) { request in
            do {
                let backend = try site.backend(request.parameters["backend"] ?? "")
                let json = try await answer(try await PageCall(request), backend)
                return .json(json.bytes())
            } catch {
                return PageFailure(error).response
            }
        }
    }
}

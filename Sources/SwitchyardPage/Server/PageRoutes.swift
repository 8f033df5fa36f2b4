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
        router.on(.get, "/api/apps") { _ in site.apps.list() }
        router.on(.post, "/api/apps") { await site.apps.note($0) }
        Self.addData(to: &router, site)
        Self.addRequests(to: &router, site)
        Self.addAccounts(to: &router, site)
        Self.addFiles(to: &router, site)
        self.router = router
    }

    func answer(_ request: ServerRequest) async -> ServerResponse {
        let isAPI = request.rawPath.hasPrefix("/api")
        if isAPI, !Self.isOwn(request) {
            return Self.guarded(
                PageFailure(403, "unauthorized", "Only the page itself may ask for this, no other page.").response)
        }
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

    /// Whether a request is none of another page, even of one on this machine.
    private static func isOwn(_ request: ServerRequest) -> Bool {
        guard let origin = request.headers["Origin"] else { return request.headers["Sec-Fetch-Site"] != "same-site" }
        return request.headers["Host"].map { origin == "http://" + $0 } ?? false
    }

    private static func guarded(_ response: ServerResponse) -> ServerResponse {
        var response = response
        response.headers["Cache-Control"] = "no-store"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response
    }

    // MARK: Routes

    private static func addData(to router: inout Router, _ site: PageSite) {
        on(.get, "collections", &router, site, isLimited: true) { try await DataRoutes(backend: $1).collections($0) }
        on(.post, "query", &router, site, isLimited: true) { try await DataRoutes(backend: $1).query($0) }
        on(.post, "count", &router, site, isLimited: true) { try await DataRoutes(backend: $1).count($0) }
        on(.post, "get", &router, site, isLimited: true) { try await DataRoutes(backend: $1).get($0) }
        on(.post, "write", &router, site, isLimited: true) { try await DataRoutes(backend: $1).write($0) }
        on(.post, "watch", &router, site) { try await site.watches.start($0, on: $1) }
        on(.delete, "watch/{id}", &router, site) {
            site.watches.end($0.parameter("id"), on: $1)
            return [:]
        }
    }

    private static func addRequests(to router: inout Router, _ site: PageSite) {
        let hub = site.hub
        on(.get, "requests", &router, site) { try RequestRoutes(backend: $1).list($0) }
        on(.get, "requests/{n}", &router, site) { try await RequestRoutes(backend: $1).details($0) }
        on(.post, "requests/{n}/replay", &router, site) { try await RequestRoutes(backend: $1).replay($0) }
        on(.post, "actAs/check", &router, site) { try await RequestRoutes(backend: $1).check($0) }
        on(.get, "faults", &router, site) { try FaultRoutes(backend: $1, hub: hub).list() }
        on(.post, "faults/disconnect", &router, site) { try FaultRoutes(backend: $1, hub: hub).disconnect() }
        on(.post, "faults/deaf", &router, site) { try FaultRoutes(backend: $1, hub: hub).setDeaf($0) }
        on(.post, "faults/{id}/open", &router, site) {
            try FaultRoutes(backend: $1, hub: hub).open($0.parameter("id"))
        }
        on(.post, "faults", &router, site) { try FaultRoutes(backend: $1, hub: hub).add($0) }
        on(.delete, "faults/{id}", &router, site) {
            try FaultRoutes(backend: $1, hub: hub).remove($0.parameter("id"))
        }
        on(.delete, "faults", &router, site) { try FaultRoutes(backend: $1, hub: hub).remove(nil) }
        on(.get, "outbox", &router, site) { try OutboxRoutes(backend: $1).outbox() }
        on(.get, "messages", &router, site) { try OutboxRoutes(backend: $1).messages() }
        on(.post, "messages", &router, site) { try await OutboxRoutes(backend: $1).send($0) }
        on(.post, "reset", &router, site) {
            try await $1.localSide().reset()
            try? await $1.source.clients().forget(nil)
            hub.send("reset", ["backend": .string($1.id)])
            return [:]
        }
    }

    private static func addAccounts(to router: inout Router, _ site: PageSite) {
        let hub = site.hub
        on(.get, "accounts", &router, site) { try await AccountRoutes(backend: $1, hub: hub).list($0) }
        on(.post, "accounts", &router, site) { try await AccountRoutes(backend: $1, hub: hub).create($0) }
        on(.patch, "accounts/{id}", &router, site) { try await AccountRoutes(backend: $1, hub: hub).update($0) }
        on(.delete, "accounts/{id}", &router, site) { try await AccountRoutes(backend: $1, hub: hub).delete($0) }
        on(.get, "accounts/{id}/sessions", &router, site) {
            try await AccountRoutes(backend: $1, hub: hub).sessions($0)
        }
        for path in ["accounts/{id}/sessions", "accounts/{id}/sessions/{session}"] {
            on(.delete, path, &router, site) { try await AccountRoutes(backend: $1, hub: hub).endSessions($0) }
        }
        on(.delete, "accounts/{id}/factors/{factor}", &router, site) {
            try await AccountRoutes(backend: $1, hub: hub).removeFactor($0)
        }
    }

    private static func addFiles(to router: inout Router, _ site: PageSite) {
        on(.get, "files", &router, site) { try await FileRoutes(backend: $1).list($0) }
        on(.delete, "file", &router, site) { try await FileRoutes(backend: $1).delete($0) }
        on(.put, "file", &router, site, readsBody: false) { try await FileRoutes(backend: $1).upload($0) }
        router.on(.get, "/api/b/{backend}/file") { request in
            do {
                let backend = try site.backend(request.parameters["backend"] ?? "")
                return try await FileRoutes(backend: backend).content(try await PageCall(request, readsBody: false))
            } catch {
                return PageFailure(error).response
            }
        }
    }

    /// A call on a backend, whose answer is JSON.
    static func on(
        _ method: HTTPMethod, _ path: String, _ router: inout Router, _ site: PageSite, readsBody: Bool = true,
        isLimited: Bool = false,
        _ answer: @escaping @Sendable (PageCall, PageBackend) async throws -> JSON
    ) {
        router.on(method, "/api/b/{backend}/" + path) { request in
            do {
                let backend = try site.backend(request.parameters["backend"] ?? "")
                let call = try await PageCall(request, readsBody: readsBody)
                guard isLimited else { return .json(try await answer(call, backend).bytes()) }
                return .json(try await backend.limit.run { try await answer(call, backend) }.bytes())
            } catch {
                return PageFailure(error).response
            }
        }
    }
}

// What a server does with the printed file.
import Hummingbird
import Switchyard

struct OwnContext: CallerRequestContext {
    var coreContext: CoreRequestContextStorage
    var actingClients: ActingClients?
    init(source: Source) { coreContext = CoreRequestContextStorage(source: source) }
}

func router(on backend: Infrastructure) async throws -> Router<CallerContext> {
    let router = Router(context: CallerContext.self)
    router.add(middleware: try await CallerMiddleware(backend, timeout: .seconds(5), checksRevocation: true))
    router.get("orders") { request, context in
        try await context.acting.storage.documents(Query(in: "orders")).documents.map(\.id)
    }
    return router
}

func otherRouter(on backend: Infrastructure) async throws -> Router<OwnContext> {
    let router = Router(context: OwnContext.self)
    router.add(middleware: try await CallerMiddleware(backend))
    router.get("name") { request, context in try await context.acting.users.currentUser().displayName ?? "" }
    return router
}

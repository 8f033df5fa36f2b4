import SwitchyardServerKit
import SwitchyardWire

/// The edge functions, behind the gateway that checks tokens.
struct LocalFunctions: LocalSupabaseService {
    static let path = "/functions/v1/"

    private let functions: [String: LocalFunction]
    private let access: SupabaseAccess

    private static let methods: Set<HTTPMethod> = [.get, .post, .put, .patch, .delete, .options]

    init(_ context: LocalSupabaseContext) {
        functions = context.options.functions
        access = context.access
    }

    package func addRoutes(to router: inout Router) {
        for pattern in ["{function}", "{function}/{rest...}"] {
            router.on(nil, Self.path + pattern) { request in await answer(request) }
        }
    }

    private func answer(_ request: ServerRequest) async -> ServerResponse {
        guard let function = functions[request.parameters["function"] ?? ""] else {
            return .refusedFunction(404, "NOT_FOUND", "Requested function was not found")
        }
        guard Self.methods.contains(request.method) else {
            return .refusedFunction(405, nil, "Method not allowed")
        }
        var token: SupabaseToken?
        if function.verifiesToken, request.method != .options {
            guard let text = SupabaseAccess.bearer(of: request) else {
                return .refusedFunction(401, nil, "Missing authorization header")
            }
            // The project's key alone proves nothing here, in any header.
            token = try? access.token(text)
            guard token != nil else { return .refusedFunction(401, nil, "Invalid JWT") }
        }
        let path = request.parameters["rest"].map { "/" + $0 } ?? ""
        do {
            return try await function.handler(LocalFunctionCall(request: request, path: path, token: token))
        } catch {
            return (error as? LocalFunctionFailure ?? .failed).response
        }
    }
}

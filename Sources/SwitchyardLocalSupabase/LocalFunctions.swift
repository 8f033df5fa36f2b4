import SwitchyardBytes
package import SwitchyardServerKit
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

/// An edge function of a local project.
///
/// ```swift
/// options.functions["hello"] = LocalFunction { call in .text("Hello, \(call.token?.claims["sub"]?.string ?? "you")") }
/// ```
package struct LocalFunction: Sendable {
    /// Answers a call, whatever its method. Any error other than a ``LocalFunctionFailure`` counts as a failed function.
    package typealias Handler = @Sendable (LocalFunctionCall) async throws -> ServerResponse

    /// Whether callers need a token of the project. `OPTIONS` never does, since browsers send it without one; the function
    /// itself decides what pages of other origins may do.
    package var verifiesToken: Bool
    let handler: Handler

    package init(verifiesToken: Bool = true, _ handler: @escaping Handler) {
        self.verifiesToken = verifiesToken
        self.handler = handler
    }
}

/// A call of a function.
package struct LocalFunctionCall: Sendable {
    package let request: ServerRequest
    /// The path after the function's name, as in "/greetings/7"; may be empty.
    package let path: String
    /// The caller's token; `nil` if it was not checked.
    package let token: SupabaseToken?
}

/// Responses of the platform in place of a function. A function can throw them to test clients.
package enum LocalFunctionFailure: Error, Hashable, CaseIterable {
    /// The platform could not run it.
    case notRun
    case notStarted
    case failed
    /// It did not respond in time.
    case silent
    /// It took too much memory or time.
    case overLimit

    var response: ServerResponse {
        let (status, code, message) =
            switch self {
            case .notRun: (500, "", "Relay error")
            case .notStarted: (503, "BOOT_ERROR", "Function failed to start (please check logs)")
            case .failed: (500, "EDGE_FUNCTION_ERROR", "Internal Server Error")
            case .silent: (504, "IDLE_TIMEOUT", "The request idle timeout limit (150s) has been reached")
            case .overLimit: (546, "WORKER_RESOURCE_LIMIT", "Function has no compute resources left")
            }
        guard self == .notRun else { return .refusedFunction(status, code, message) }
        var response = ServerResponse.refusedFunction(status, nil, message)
        response.headers["x-relay-error"] = "true"
        return response
    }
}

extension ServerResponse {
    /// - Parameter code: The platform's code; without one, the body contains the status.
    static func refusedFunction(_ status: Int, _ code: String?, _ message: String) -> ServerResponse {
        let body: JSON = ["code": code.map { .string($0) } ?? .integer(Int64(status)), "message": .string(message)]
        var response = ServerResponse.json(body.bytes(), status: status)
        response.headers["sb-error-code"] = code
        return response
    }
}

import SwitchyardBytes
package import SwitchyardServerKit
import SwitchyardWire

/// A function at the edge of a local project.
///
/// ```swift
/// options.functions["hello"] = LocalFunction { call in .text("Hello, \(call.token?.claims["sub"]?.string ?? "you")") }
/// ```
package struct LocalFunction: Sendable {
    /// Answers a call, whatever its method. What it throws is a ``LocalFunctionFailure``, or counts as one that has failed.
    package typealias Handler = @Sendable (LocalFunctionCall) async throws -> ServerResponse

    /// Whether only those reach it who show a token of the project. `OPTIONS` always does, since browsers ask without one;
    /// what pages of other origins may do is for the function to say.
    package var verifiesToken: Bool
    let handler: Handler

    package init(verifiesToken: Bool = true, _ handler: @escaping Handler) {
        self.verifiesToken = verifiesToken
        self.handler = handler
    }
}

/// What a function is asked.
package struct LocalFunctionCall: Sendable {
    package let request: ServerRequest
    /// What follows the function's name, as in "/greetings/7"; empty where nothing does.
    package let path: String
    /// Who asks; `nil` where nobody looked.
    package let token: SupabaseToken?
}

/// What a platform answers in a function's place; for functions to throw, so that clients can be tried.
package enum LocalFunctionFailure: Error, Hashable, CaseIterable {
    /// The platform could not run it.
    case notRun
    case notStarted
    case failed
    /// It gave no sign of life in time.
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
    /// - Parameter code: What the platform calls it; without one the status stands in the body.
    static func refusedFunction(_ status: Int, _ code: String?, _ message: String) -> ServerResponse {
        let body: JSON = ["code": code.map { .string($0) } ?? .integer(Int64(status)), "message": .string(message)]
        var response = ServerResponse.json(body.bytes(), status: status)
        response.headers["sb-error-code"] = code
        return response
    }
}

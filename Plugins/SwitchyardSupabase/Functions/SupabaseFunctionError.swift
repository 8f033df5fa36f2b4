import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardWire

/// Why a call of an edge function failed, either in the function or because it could not be run.
public struct SupabaseFunctionError: ClientError {
    public static let area = "Functions"
    public static let retryable: Set<ErrorCode> = [.relay, .unavailable, .deadlineExceeded]
    public let details: ErrorDetails
    /// The answer, if there was one; with `.function` it is the function's own.
    public private(set) var answer: SupabaseFunctionAnswer?

    public init(_ details: ErrorDetails) { self.details = details }

    /// From an error answer.
    public init(_ code: ErrorCode, _ message: String, retryAfter: Duration? = nil, answer: SupabaseFunctionAnswer) {
        self.init(code, message, retryAfter: retryAfter)
        self.answer = answer
    }
}

extension ErrorCode {
    /// The function ran and returned an error status; see ``SupabaseFunctionError/answer``.
    public static let function = ErrorCode(rawValue: "function")
    /// The platform could not run the function.
    public static let relay = ErrorCode(rawValue: "relay")
    /// The function failed while running, without an answer.
    public static let failed = ErrorCode(rawValue: "failed")
    public static let invalidAnswer = ErrorCode(rawValue: "invalidAnswer")
}

extension SupabaseFunctionError {
    /// From an error answer of the function, or an answer that the platform returned in its place.
    init(_ response: HTTPResponse, now: Timestamp) {
        let answer = SupabaseFunctionAnswer(response.head, body: response.body)
        let (code, message): (Code, String) =
            if response.head.isRelayFailure {
                (.relay, "The platform could not run the function.")
            } else {
                switch response.headers["sb-error-code"] {
                case "BOOT_ERROR": (.relay, "The function did not start.")
                case "IDLE_TIMEOUT": (.deadlineExceeded, "The function did not answer in time.")
                case "WORKER_RESOURCE_LIMIT": (.resourceExhausted, "The function took too much memory or time.")
                case "EDGE_FUNCTION_ERROR": (.failed, "The function failed while it ran.")
                case "NOT_FOUND": (.notFound, "There is no function with that name.")
                default:
                    switch response.status {
                    case 546: (.resourceExhausted, "The function took too much memory or time.")
                    case 401 where SupabaseFunctionError.isPlatforms(response):
                        (.unauthenticated, "The platform does not accept the session's token.")
                    default: (.function, "The function answered with status \(response.status).")
                    }
                }
            }
        self.init(
            code, message,
            retryAfter: response.headers["Retry-After"].flatMap { RetryAfter.delay($0, now: now.seconds) },
            answer: answer)
    }

    /// The platform's own errors repeat the status as a number in the body.
    private static func isPlatforms(_ response: HTTPResponse) -> Bool {
        (try? JSON(parsing: response.body))?["code"]?.int == response.status
    }

    init(_ error: TransportError) {
        self.init(
            error.meaning, "The function could not be called: \(error.message).", isRetryable: error.isRetryable,
            underlying: error)
    }

    init(_ failure: SupabaseTokens.Failure) { self.init(failure.meaning) }
}

extension HTTPResponseHead {
    /// Whether the function has not run, independent of the status.
    var isRelayFailure: Bool { headers["x-relay-error"]?.lowercased() == "true" }
}

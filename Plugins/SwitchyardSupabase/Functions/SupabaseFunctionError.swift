import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// Why a call of an edge function did not succeed: because of the function, or because it was not run.
public struct SupabaseFunctionError: ClientError {
    public let code: Code
    public let message: String
    public let isRetryable: Bool
    public let retryAfter: Duration?
    public let underlying: (any Error)?
    /// What came back, if anything did; with `.function` it is the function's own.
    public let answer: SupabaseFunctionAnswer?

    public init(
        _ code: Code, _ message: String, isRetryable: Bool? = nil, retryAfter: Duration? = nil,
        answer: SupabaseFunctionAnswer? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.isRetryable = isRetryable ?? Code.usuallyRetryable.contains(code)
        self.retryAfter = retryAfter
        self.answer = answer
        self.underlying = underlying
    }

    public init(
        _ code: Code, _ message: String, isRetryable: Bool?, retryAfter: Duration?, underlying: (any Error)?
    ) {
        self.init(
            code, message, isRetryable: isRetryable, retryAfter: retryAfter, answer: nil, underlying: underlying)
    }

    public struct Code: ErrorCode {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The function ran and answered with a status that is no success; see ``SupabaseFunctionError/answer``.
        public static let function = Code(rawValue: "function")
        /// The platform could not run the function.
        public static let relay = Code(rawValue: "relay")
        public static let notFound = Code(rawValue: "notFound")
        /// The function failed while it ran, without an answer.
        public static let failed = Code(rawValue: "failed")
        /// It took too much memory or processor time.
        public static let resourceExhausted = Code(rawValue: "resourceExhausted")
        public static let unauthenticated = Code(rawValue: "unauthenticated")
        public static let invalidArgument = Code(rawValue: "invalidArgument")
        public static let invalidAnswer = Code(rawValue: "invalidAnswer")
        public static let deadlineExceeded = Code(rawValue: "deadlineExceeded")
        public static let unavailable = Code(rawValue: "unavailable")
        public static let cancelled = Code(rawValue: "cancelled")
        public static let shutDown = Code(rawValue: "shutDown")
        /// Another user signed in while it was under way. It does not go on in that user's name.
        public static let sessionChanged = Code(rawValue: "sessionChanged")

        static let usuallyRetryable: Set<Code> = [.relay, .unavailable, .deadlineExceeded]
    }
}

extension SupabaseFunctionError {
    /// An answer that is no success, or that the platform gave in the function's place.
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
                case "NOT_FOUND": (.notFound, "There is no function of that name.")
                default:
                    switch response.status {
                    case 546: (.resourceExhausted, "The function took too much memory or time.")
                    case 401 where SupabaseFunctionError.isPlatforms(response):
                        (.unauthenticated, "The platform does not take the session's token.")
                    default: (.function, "The function answered with status \(response.status).")
                    }
                }
            }
        self.init(
            code, message,
            retryAfter: response.headers["Retry-After"].flatMap { RetryAfter.delay($0, now: now.seconds) },
            answer: answer)
    }

    /// The platform's refusals have their status as a number in the body.
    private static func isPlatforms(_ response: HTTPResponse) -> Bool {
        (try? JSON(parsing: response.body))?["code"]?.int == response.status
    }

    init(_ error: TransportError) {
        let code: Code =
            switch error.code {
            case .cancelled: .cancelled
            case .deadlineExceeded, .connectDeadlineExceeded, .stalled: .deadlineExceeded
            case .shutDown: .shutDown
            case .invalidRequest: .invalidArgument
            case .bodyTooLarge, .headTooLarge: .resourceExhausted
            default: .unavailable
            }
        self.init(
            code, "The function could not be asked: \(error.message).", isRetryable: error.isRetryable,
            underlying: error)
    }

    init(_ failure: SupabaseTokens.Failure) {
        let code: Code =
            switch failure.code {
            case .cancelled: .cancelled
            case .shutDown: .shutDown
            default: failure.isOtherUser ? .sessionChanged : failure.isTemporary ? .unavailable : .unauthenticated
            }
        self.init(code, failure.message, isRetryable: failure.isTemporary, underlying: failure.cause)
    }
}

extension HTTPResponseHead {
    /// Whatever the status says, the function has not run.
    var isRelayFailure: Bool { headers["x-relay-error"]?.lowercased() == "true" }
}

import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// The one table from what registering, listening and sending meet with to our codes.
extension MessagingError {
    init(_ error: StorageError) {
        let code: Code =
            switch error.code {
            case .cancelled: .cancelled
            case .shutDown: .shutDown
            case .unauthenticated: .unauthenticated
            case .unauthorized: .unauthorized
            case .deadlineExceeded: .deadlineExceeded
            case .resourceExhausted: .rateLimited
            case .unavailable, .aborted, .internal: .unavailable
            case .unsupported: .unsupported
            case .invalidArgument: .invalidArgument
            case .failedPrecondition: .unsupported
            default: .unknown
            }
        self.init(
            code, error.message, isRetryable: error.isRetryable, retryAfter: error.retryAfter,
            underlying: error.underlying ?? error)
    }

    init(_ failure: RealtimeFailure) {
        let (code, message): (Code, String) =
            switch failure.kind {
            case .unauthenticated:
                (
                    .unauthenticated,
                    failure.problem?.message(failure.issuer)
                        ?? "The realtime service does not take the session's token."
                )
            case .unauthorized where failure.problem != nil:
                (
                    .unauthorized,
                    "The project's policies do not let this session listen. \(failure.problem!.message(failure.issuer))"
                )
            case .unauthorized: (.unauthorized, "The project's policies do not let this session listen.")
            case .refused: (.unsupported, "The project does not allow channels of this kind.")
            case .tooManyChannels: (.rateLimited, "There are too many channels already; leave a topic first.")
            case .closed: (.shutDown, "The client was shut down.")
            case .tooLarge: (.invalidArgument, "The message is too large.")
            case .topicInUse, .unavailable, .unanswered: (.unavailable, "The realtime service cannot be reached.")
            }
        self.init(code, message, isRetryable: code == .unavailable, underlying: failure.problem ?? failure)
    }

    /// An answer of the service by which servers send.
    init(_ response: HTTPResponse, now: Timestamp) {
        let (code, message): (Code, String) =
            switch response.status {
            case 401: (.unauthenticated, "The key is not one that may send.")
            case 403: (.unauthorized, "The project does not allow it.")
            case 422: (.invalidArgument, "The message is too large or not of the right form.")
            case 429: (.rateLimited, "The project sends too many messages; wait a little.")
            case 500...: (.unavailable, "The server cannot answer now.")
            default: (Code(rawValue: "http\(response.status)"), "The server answered with status \(response.status).")
            }
        self.init(
            code, message,
            retryAfter: response.headers["Retry-After"].flatMap { RetryAfter.delay($0, now: now.seconds) })
    }
}

package import Switchyard
import SwitchyardBytes
package import SwitchyardWire

/// Maps transport failures to the portable codes, for all providers.
///
/// The code does not say whether the request took effect: after a lost answer, callers that can find out, or need not know, may
/// try again.
extension TransportError {
    package var meaning: ErrorCode {
        switch code {
        case .cancelled: .cancelled
        case .deadlineExceeded, .connectDeadlineExceeded, .stalled: .deadlineExceeded
        case .overloaded: .overloaded
        case .shutDown: .shutDown
        case .bodyTooLarge, .headTooLarge: .resourceExhausted
        case .invalidRequest: .invalidArgument
        default: .unavailable
        }
    }

    fileprivate var mayPass: Bool { [.unavailable, .overloaded, .deadlineExceeded].contains(meaning) }

    /// A message for developers; `nil` if callers have a more specific one.
    fileprivate var refusalText: String? {
        guard code == .overloaded else { return nil }
        return "The call was not sent: \(message). Make fewer calls at a time, or try again later."
    }

    /// For services with short calls and small answers.
    fileprivate var details: ErrorDetails {
        let (code, text): (ErrorCode, String) =
            switch meaning {
            case .cancelled: (.cancelled, "The call was cancelled.")
            case .deadlineExceeded: (.deadlineExceeded, "The server did not respond in time.")
            case .overloaded: (.overloaded, refusalText ?? message)
            case .shutDown: (.shutDown, "The client was shut down.")
            case .invalidArgument: (.invalidArgument, message)
            default: (.unavailable, "Could not reach the server: \(message).")
            }
        return ErrorDetails(code, text, isRetryable: mayPass, underlying: self)
    }
}

extension StorageError {
    package init(_ error: TransportError) {
        let text =
            error.meaning == .unavailable
            ? "Could not reach the server: \(error.message)." : error.refusalText ?? error.message
        self.init(error.meaning, text, isRetryable: error.mayPass, underlying: error)
    }
}

extension FileStorageError {
    package init(_ error: TransportError) {
        let (code, isRetryable): (Code, Bool) =
            switch error.code {
            case .bodyTooLarge, .headTooLarge: (.tooLarge, false)
            case .requestBodyFailed, .fileFailed: (.localFile, false)
            case .untrustedPeer, .libraryUnavailable, .unsupported, .redirectRefused, .tooManyRedirects:
                (.unavailable, false)
            default: (error.meaning, error.mayPass)
            }
        self.init(
            code, error.refusalText ?? "The call could not be sent: \(error.message).", isRetryable: isRetryable,
            underlying: error)
    }
}

extension AuthError {
    package init(_ error: TransportError) { self.init(error.details) }
}

extension MessagingError {
    package init(_ error: TransportError) { self.init(error.details) }
}

/// Compares this device's clock with a server's, since tokens that are valid by one clock may have expired by the other.
package enum DeviceClock {
    private static let tolerance = 60

    /// A remark for error messages; `nil` if both clocks agree, or the answer has no time.
    package static func remark(_ headers: HTTPHeaders, now: Timestamp) -> String? {
        guard let time = headers["Date"].flatMap({ HTTPDate.parse($0, now: now.seconds) }) else { return nil }
        let ahead = now.seconds - time
        guard abs(ahead) > tolerance else { return nil }
        return "This device's clock is \(length(abs(ahead))) \(ahead > 0 ? "ahead" : "behind"). Set it, and try again."
    }

    private static func length(_ seconds: Int64) -> String {
        let (count, unit) =
            switch seconds {
            case ..<7200: (seconds / 60, "minute")
            case ..<172_800: (seconds / 3600, "hour")
            default: (seconds / 86_400, "day")
            }
        return "\(count) \(unit)\(count == 1 ? "" : "s")"
    }
}

/// How long a call that may be repeated waits for a server that is there but cannot serve it, for example because its database
/// restarts.
///
/// No answer at all is not waited for: a device without a network has to know that soon.
package struct Patience: Sendable {
    /// The last attempt begins within this time of the first failure.
    package static let limit = Duration.seconds(8)
    private static let pauses = Backoff.Policy(
        initial: .milliseconds(50), factor: 2, maximum: .seconds(1), jitter: 0.5, isFirstImmediate: false)

    private let clock: any Clock<Duration>

    package init(clock: any Clock<Duration>) { self.clock = clock }

    /// - Parameters:
    ///   - call: The call, which may be repeated.
    ///   - pause: The least pause before another attempt, such as the server's own word (`.zero` without one); `nil` if another
    ///     attempt would not help.
    /// - Throws: The error of the last attempt, also if the task is cancelled.
    package func outlasting<Value, Failure: Error>(
        _ pause: (Failure) -> Duration?, _ call: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        // Most calls succeed at once, and then none of this is needed.
        var waiting: (watch: Stopwatch, backoff: Backoff)?
        while true {
            do throws(Failure) { return try await call() } catch {
                guard let least = pause(error) else { throw error }
                let watch = waiting?.watch ?? Stopwatch(clock)
                var backoff = waiting?.backoff ?? Backoff(Self.pauses, now: watch.now)
                var chance = SystemRandomNumberGenerator()
                let delay = backoff.next(now: watch.now, atLeast: least, using: &chance)
                guard watch.elapsed + delay <= Self.limit, !Task.isCancelled,
                    (try? await clock.sleep(for: delay)) != nil
                else { throw error }
                waiting = (watch, backoff)
            }
        }
    }
}

extension StorageError {
    /// The least pause before the same call may be sent again: none if the server ended the connection instead of answering,
    /// since another connection may do; `nil` if another attempt would not help.
    ///
    /// - Parameter answered: The same for an error answer.
    package func pauseBeforeRepetition<Answer: Error>(_ answered: (Answer) -> Duration?) -> Duration? {
        if let answer = underlying as? Answer { return answered(answer) }
        return (underlying as? TransportError)?.code == .connectionLost ? .zero : nil
    }
}

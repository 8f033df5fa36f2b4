package import Switchyard
import SwitchyardBytes
import SwitchyardWire

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

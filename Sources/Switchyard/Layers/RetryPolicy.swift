import SwitchyardBytes

/// How often, and with which pauses, a failed call is repeated.
///
/// Pauses grow by half each time, differ by up to half either way so that many clients do not stay in step, and are never
/// shorter than a server asked for.
public struct RetryPolicy: Sendable, Hashable {
    /// How often a call may be made in all. 1 means never again.
    public var maximumAttempts: Int
    /// The pause after the first failure, counted from the start of the call.
    public var initialPause: Duration
    public var maximumPause: Duration

    public init(
        maximumAttempts: Int = 4, initialPause: Duration = .milliseconds(200), maximumPause: Duration = .seconds(20)
    ) {
        self.maximumAttempts = max(1, maximumAttempts)
        self.initialPause = initialPause
        self.maximumPause = maximumPause
    }

    /// Four attempts within a few seconds.
    public static let standard = RetryPolicy()

    /// Runs `call` until it succeeds, fails for good, or has failed often enough.
    ///
    /// - Parameters:
    ///   - isRepeatable: Whether a failure leaves it safe to try again; asked only when another attempt is allowed.
    ///   - onRetry: Told before each pause.
    func run<Result, Failure: ClientError>(
        clock: any Clock<Duration>, isRepeatable: (Failure) -> Bool,
        onRetry: (_ attempt: Int, _ pause: Duration, Failure) -> Void = { _, _, _ in },
        _ call: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let policy = Backoff.Policy(initial: initialPause, maximum: maximumPause, isFirstImmediate: false)
        var backoff = Backoff(policy, now: .now)
        var generator = SystemRandomNumberGenerator()
        var attempt = 1
        while true {
            let failure: Failure
            do throws(Failure) {
                return try await call()
            } catch {
                failure = error
            }
            guard attempt < maximumAttempts, failure.isRetryable, isRepeatable(failure) else { throw failure }
            let pause = backoff.next(now: .now, atLeast: failure.retryAfter, using: &generator)
            onRetry(attempt, pause, failure)
            // A cancelled pause ends the retrying; the caller learns why the last call failed.
            do { try await clock.sleep(for: pause) } catch { throw failure }
            attempt += 1
        }
    }
}

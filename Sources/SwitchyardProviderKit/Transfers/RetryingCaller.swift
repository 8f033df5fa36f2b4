package import Switchyard
package import SwitchyardBytes

/// Repeats a call while its failure may be temporary. For idempotent calls.
package struct RetryingCaller: Sendable {
    /// Called before each pause with the operation, the number of the failed attempt, the pause and the error.
    package typealias Report = @Sendable (_ operation: String, Int, Duration, FileStorageError) -> Void

    package let clock: any Clock<Duration>
    /// How long all attempts at one call may take together, or a transfer may go without moving a byte, if set.
    package let patience: Duration?
    package let report: Report

    /// Short, because a user may be waiting.
    static let defaultTimeLimit = Duration.seconds(30)

    package init(
        clock: any Clock<Duration>, patience: Duration? = nil, report: @escaping Report = { _, _, _, _ in }
    ) {
        self.clock = clock
        self.patience = patience
        self.report = report
    }

    /// For the file client of `provider`; its observer receives an event for each failed attempt.
    package init(_ context: ModuleContext, of provider: InfrastructureProvider, patience: Duration?) {
        self.init(clock: context.clock, patience: patience) {
            [observer = context.observer] operation, attempt, pause, error in
            observer.observe(
                InfrastructureEvent(
                    service: .files, provider: provider,
                    kind: .retry(operation: operation, attempt: attempt, after: pause, failure: .init(error))))
        }
    }

    /// The same caller, which also reports each failure to `listener`.
    func telling(_ listener: @escaping @Sendable (FileStorageError) -> Void) -> RetryingCaller {
        RetryingCaller(clock: clock, patience: patience) { [report] operation, attempt, pause, failure in
            report(operation, attempt, pause, failure)
            listener(failure)
        }
    }

    /// - Parameter isDone: Whether a failure after a lost answer means that the lost attempt succeeded.
    package func callAsFunction<Value: Sendable>(
        _ operation: String, isDone: (FileStorageError) -> Value? = { _ in nil },
        _ body: () async throws(FileStorageError) -> Value
    ) async throws(FileStorageError) -> Value {
        let time = Stopwatch(clock)
        let start = time.now
        var generator = SystemRandomNumberGenerator()
        var backoff = Backoff(.init(initial: .seconds(1), factor: 2, maximum: .seconds(64), jitter: 0.2), now: start)
        var attempt = 1
        while true {
            let failure: FileStorageError
            do throws(FileStorageError) {
                return try await body()
            } catch {
                failure = error
            }
            if attempt > 1, let value = isDone(failure) { return value }
            let patience = patience ?? RetryingCaller.defaultTimeLimit
            guard failure.isRetryable, time.now - start + (failure.retryAfter ?? .zero) < patience else {
                throw failure
            }
            let pause = backoff.next(now: time.now, atLeast: failure.retryAfter, using: &generator)
            report(operation, attempt, pause, failure)
            do { try await clock.sleep(for: pause) } catch { throw FileStorageError(.cancelled, "It was cancelled.") }
            attempt += 1
        }
    }
}

/// The part sizes of a provider's uploads, and how long to retry a transfer.
package struct TransferPolicy: Sendable {
    /// The size of the first part, and of the one after every failure.
    package var firstPart: Int64
    /// Parts double after each success up to this size. The same as `firstPart` for parts of a fixed size.
    package var largestPart: Int64
    /// The limit for parts from a stream, which are held in memory for resending.
    package var largestStreamPart: Int64
    /// Contents up to this size are sent in one request, without a session; zero for never.
    package var wholeLimit: Int64
    /// How long a transfer goes without moving a byte before it gives up. The time it is paused does not count.
    package var patience: Duration = .seconds(600)
    package var backoff = Backoff.Policy(
        initial: .seconds(1), factor: 2, maximum: .seconds(64), jitter: 0.2, isFirstImmediate: true)
    /// How long discarding a partial upload may take at the end.
    package var discardLimit: Duration = .seconds(5)

    func with(patience: Duration?) -> TransferPolicy {
        var policy = self
        policy.patience = patience ?? self.patience
        return policy
    }

    package init(firstPart: Int64, largestPart: Int64, largestStreamPart: Int64? = nil, wholeLimit: Int64) {
        self.firstPart = firstPart
        self.largestPart = max(firstPart, largestPart)
        self.largestStreamPart = max(firstPart, largestStreamPart ?? largestPart)
        self.wholeLimit = wholeLimit
    }
}

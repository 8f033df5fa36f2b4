package import Switchyard
import SwitchyardBytes

/// Makes a call again and again while its failure may pass: for calls that do no harm when made twice.
package struct PatientCaller: Sendable {
    private let clock: any Clock<Duration>
    /// How long all attempts of one call may take together.
    private let patience: Duration

    package init(clock: any Clock<Duration>, patience: Duration = .seconds(120)) {
        self.clock = clock
        self.patience = patience
    }

    /// - Parameter isDone: Whether a failure after a lost answer means that the lost one was a success.
    package func callAsFunction<Value: Sendable>(
        isDone: (FileStorageError) -> Value? = { _ in nil },
        _ body: () async throws(FileStorageError) -> Value
    ) async throws(FileStorageError) -> Value {
        let time = Stopwatch(clock)
        let start = time.now
        var generator = SystemRandomNumberGenerator()
        var backoff = Backoff(.init(initial: .seconds(1), factor: 2, maximum: .seconds(64), jitter: 0.2), now: start)
        var mayHaveHappened = false
        while true {
            let failure: FileStorageError
            do throws(FileStorageError) {
                return try await body()
            } catch {
                failure = error
            }
            if mayHaveHappened, let value = isDone(failure) { return value }
            guard failure.isRetryable, time.now - start + (failure.retryAfter ?? .zero) < patience else {
                throw failure
            }
            mayHaveHappened = true
            let pause = backoff.next(now: time.now, atLeast: failure.retryAfter, using: &generator)
            do { try await clock.sleep(for: pause) } catch { throw FileStorageError(.cancelled, "It was cancelled.") }
        }
    }
}

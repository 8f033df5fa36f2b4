/// Repeats calls that failed for a temporary reason: reads always, changes only if repeating them does no harm.
///
/// A batch with increments or preconditions, a sign-up or a code that can be used once is not repeated: if only the answer
/// was lost, it would count twice, or fail although it had succeeded. Streams and transfers recover by themselves.
public struct RetryLayer: ClientLayer {
    public let policy: RetryPolicy
    private let clock: any Clock<Duration>
    private let observer: any InfrastructureObserver

    /// `observer` receives an event before each pause.
    public init(
        _ policy: RetryPolicy = .standard, clock: any Clock<Duration> = ContinuousClock(),
        observer: any InfrastructureObserver = SilentObserver()
    ) {
        self.policy = policy
        self.clock = clock
        self.observer = observer
    }

    public func call<Result, Failure: ClientError>(
        _ call: ClientCall, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        guard call.isRepeatable else { return try await body() }
        return try await policy.run(clock: clock) { attempt, pause, failure in
            observer.observe(
                InfrastructureEvent(
                    service: call.service, provider: call.provider,
                    kind: .retry(
                        operation: call.operation, attempt: attempt, after: pause, failure: call.failure(failure))))
        } _: { () throws(Failure) in
            try await body()
        }
    }
}

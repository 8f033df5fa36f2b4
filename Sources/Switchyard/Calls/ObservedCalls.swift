/// Applies the request's deadline and an observer to calls of objects made without an ``Infrastructure``, such as a
/// provider's message sender.
package struct ObservedCalls: Sendable {
    private let policy: CallPolicy

    package init(
        _ service: InfrastructureService, of provider: InfrastructureProvider, _ observer: any InfrastructureObserver,
        clock: any Clock<Duration>
    ) {
        policy = CallPolicy(service, { provider }, observer: observer, clock: clock, hasDeadline: true)
    }

    package func callAsFunction<Result, Failure: ClientError>(
        _ operation: ClientOperation, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await policy.run(operation, on: ()) { () throws(Failure) in try await body() }
    }
}

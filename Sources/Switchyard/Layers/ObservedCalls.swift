/// Applies the request's deadline and an observer to calls of objects made without an ``Infrastructure``, such as a
/// provider's message sender.
package struct ObservedCalls: Sendable {
    private let service: InfrastructureService
    private let provider: InfrastructureProvider
    private let observing: ObserveLayer

    package init(
        _ service: InfrastructureService, of provider: InfrastructureProvider, _ observer: any InfrastructureObserver,
        clock: any Clock<Duration>
    ) {
        self.service = service
        self.provider = provider
        observing = ObserveLayer(observer, clock: clock)
    }

    package func callAsFunction<Result, Failure: ClientError>(
        _ operation: ClientOperation, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let call = ClientCall(service: service, provider: provider, operation)
        return try await observing.call(call) { () throws(Failure) in try await DeadlineLayer().call(call, body) }
    }
}

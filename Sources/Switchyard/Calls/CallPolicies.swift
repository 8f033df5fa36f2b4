/// The policies of an infrastructure's clients, which differ only in their service and provider.
struct CallPolicies: Sendable {
    private let retry: RetryPolicy?
    private let options: InfrastructureOptions

    init(retry: RetryPolicy?, _ options: InfrastructureOptions) {
        self.retry = retry
        self.options = options
    }

    /// - Parameters:
    ///   - service: The service of the client.
    ///   - provider: The provider of the client.
    ///   - namesErrors: Whether errors begin with the operation and its target.
    func policy(
        for service: InfrastructureService, of provider: InfrastructureProvider, namesErrors: Bool = true
    ) -> CallPolicy {
        CallPolicy(
            service, { provider }, retry: retry, interceptors: options.interceptors, observer: options.observer,
            clock: options.clock, hasDeadline: true, namesErrors: namesErrors)
    }
}

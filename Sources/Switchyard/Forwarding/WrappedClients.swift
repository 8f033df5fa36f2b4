// Every core client, token verifier, admin client and message sender can have a policy around its calls.

extension StorageClient {
    /// This client, with `policy` around each of its calls.
    package func with(_ policy: CallPolicy) -> Routed<any StorageClient> { Routed(Route(to: self, policy)) }
    /// This client, with `interceptor` around each of its calls.
    public func intercepted(by interceptor: some CallInterceptor) -> any StorageClient {
        with(CallPolicy(.storage, { provider }, interceptors: [interceptor]))
    }
    /// This client, repeating calls that failed for a temporary reason and are safe to repeat.
    public func retrying(
        _ policy: RetryPolicy = .standard, clock: (any Clock<Duration>)? = nil
    ) -> any StorageClient {
        with(CallPolicy(.storage, { provider }, retry: policy, clock: clock ?? self.clock))
    }
    /// This client, reporting everything it does to `observer`.
    public func observed(
        by observer: any InfrastructureObserver, clock: any Clock<Duration> = ContinuousClock()
    ) -> any StorageClient {
        with(CallPolicy(.storage, { provider }, observer: observer, clock: clock))
    }
}

extension AuthClient {
    /// This client, with `policy` around each of its calls.
    package func with(_ policy: CallPolicy) -> Routed<any AuthClient> { Routed(Route(to: self, policy)) }
    /// This client, with `interceptor` around each of its calls.
    public func intercepted(by interceptor: some CallInterceptor) -> any AuthClient {
        with(CallPolicy(.auth, { provider }, interceptors: [interceptor]))
    }
    /// This client, repeating calls that failed for a temporary reason and are safe to repeat.
    public func retrying(
        _ policy: RetryPolicy = .standard, clock: any Clock<Duration> = ContinuousClock()
    ) -> any AuthClient {
        with(CallPolicy(.auth, { provider }, retry: policy, clock: clock))
    }
    /// This client, reporting everything it does to `observer`.
    public func observed(
        by observer: any InfrastructureObserver, clock: any Clock<Duration> = ContinuousClock()
    ) -> any AuthClient {
        with(CallPolicy(.auth, { provider }, observer: observer, clock: clock))
    }
}

extension FileStorageClient {
    /// This client, with `policy` around each of its calls.
    package func with(_ policy: CallPolicy) -> Routed<any FileStorageClient> { Routed(Route(to: self, policy)) }
    /// This client, with `interceptor` around each of its calls.
    public func intercepted(by interceptor: some CallInterceptor) -> any FileStorageClient {
        with(CallPolicy(.files, { provider }, interceptors: [interceptor]))
    }
    /// This client, repeating calls that failed for a temporary reason and are safe to repeat.
    public func retrying(
        _ policy: RetryPolicy = .standard, clock: any Clock<Duration> = ContinuousClock()
    ) -> any FileStorageClient {
        with(CallPolicy(.files, { provider }, retry: policy, clock: clock))
    }
    /// This client, reporting everything it does to `observer`.
    public func observed(
        by observer: any InfrastructureObserver, clock: any Clock<Duration> = ContinuousClock()
    ) -> any FileStorageClient {
        with(CallPolicy(.files, { provider }, observer: observer, clock: clock))
    }
}

extension MessagingClient {
    /// This client, with `policy` around each of its calls.
    package func with(_ policy: CallPolicy) -> Routed<any MessagingClient> { Routed(Route(to: self, policy)) }
    /// This client, with `interceptor` around each of its calls.
    public func intercepted(by interceptor: some CallInterceptor) -> any MessagingClient {
        with(CallPolicy(.messaging, { provider }, interceptors: [interceptor]))
    }
    /// This client, repeating calls that failed for a temporary reason and are safe to repeat.
    public func retrying(
        _ policy: RetryPolicy = .standard, clock: any Clock<Duration> = ContinuousClock()
    ) -> any MessagingClient {
        with(CallPolicy(.messaging, { provider }, retry: policy, clock: clock))
    }
    /// This client, reporting everything it does to `observer`.
    public func observed(
        by observer: any InfrastructureObserver, clock: any Clock<Duration> = ContinuousClock()
    ) -> any MessagingClient {
        with(CallPolicy(.messaging, { provider }, observer: observer, clock: clock))
    }
}

extension AdminClient {
    /// This client, with `policy` around each of its calls.
    package func with(_ policy: CallPolicy) -> Routed<any AdminClient> { Routed(Route(to: self, policy)) }
    /// This client, with `interceptor` around each of its calls.
    public func intercepted(by interceptor: some CallInterceptor) -> any AdminClient {
        with(CallPolicy(.auth, { provider }, interceptors: [interceptor]))
    }
}

extension MessageSender {
    /// This sender, with `policy` around each of its calls.
    package func with(_ policy: CallPolicy) -> Routed<any MessageSender> { Routed(Route(to: self, policy)) }
    /// This sender, with `interceptor` around each of its calls.
    public func intercepted(by interceptor: some CallInterceptor) -> any MessageSender {
        with(CallPolicy(.messaging, { provider }, interceptors: [interceptor]))
    }
}

extension TokenVerifier {
    /// This verifier, with `policy` around each of its calls.
    package func with(_ policy: CallPolicy) -> Routed<any TokenVerifier> { Routed(Route(to: self, policy)) }
    /// This verifier, with `interceptor` around each of its calls.
    public func intercepted(by interceptor: some CallInterceptor) -> any TokenVerifier {
        with(CallPolicy(.auth, { provider }, interceptors: [interceptor]))
    }
}

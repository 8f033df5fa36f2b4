// Every core client, token verifier, admin client and message sender can have layers around it, innermost first.

extension StorageClient {
    /// This client, with `layer` around each of its calls.
    public func layered(_ layer: any ClientLayer) -> Routed<any StorageClient> {
        Routed(LayeredRoute(self, layer, .storage) { $0.provider })
    }
    /// This client, repeating calls that failed for a temporary reason and are safe to repeat.
    public func retrying(_ policy: RetryPolicy = .standard) -> Routed<any StorageClient> {
        layered(RetryLayer(policy, clock: clock))
    }
    /// This client, reporting everything it does to `observer`.
    public func observed(by observer: any InfrastructureObserver) -> Routed<any StorageClient> {
        layered(ObserveLayer(observer))
    }
}

extension AuthClient {
    /// This client, with `layer` around each of its calls.
    public func layered(_ layer: any ClientLayer) -> LayeredAuthClient { LayeredAuthClient(self, layer) }
    /// This client, repeating calls that failed for a temporary reason and are safe to repeat.
    public func retrying(_ policy: RetryPolicy = .standard) -> LayeredAuthClient { layered(RetryLayer(policy)) }
    /// This client, reporting everything it does to `observer`.
    public func observed(by observer: any InfrastructureObserver) -> LayeredAuthClient {
        layered(ObserveLayer(observer))
    }
}

extension FileStorageClient {
    /// This client, with `layer` around each of its calls.
    public func layered(_ layer: any ClientLayer) -> Routed<any FileStorageClient> {
        Routed(LayeredRoute(self, layer, .files) { $0.provider })
    }
    /// This client, repeating calls that failed for a temporary reason and are safe to repeat.
    public func retrying(_ policy: RetryPolicy = .standard) -> Routed<any FileStorageClient> {
        layered(RetryLayer(policy))
    }
    /// This client, reporting everything it does to `observer`.
    public func observed(by observer: any InfrastructureObserver) -> Routed<any FileStorageClient> {
        layered(ObserveLayer(observer))
    }
}

extension MessagingClient {
    /// This client, with `layer` around each of its calls.
    public func layered(_ layer: any ClientLayer) -> Routed<any MessagingClient> {
        Routed(LayeredRoute(self, layer, .messaging) { $0.provider })
    }
    /// This client, repeating calls that failed for a temporary reason and are safe to repeat.
    public func retrying(_ policy: RetryPolicy = .standard) -> Routed<any MessagingClient> {
        layered(RetryLayer(policy))
    }
    /// This client, reporting everything it does to `observer`.
    public func observed(by observer: any InfrastructureObserver) -> Routed<any MessagingClient> {
        layered(ObserveLayer(observer))
    }
}

extension AdminClient {
    /// This client, with `layer` around each of its calls.
    public func layered(_ layer: any ClientLayer) -> Routed<any AdminClient> {
        Routed(LayeredRoute(self, layer, .auth) { $0.provider })
    }
}

extension MessageSender {
    /// This sender, with `layer` around each message.
    public func layered(_ layer: any ClientLayer) -> Routed<any MessageSender> {
        Routed(LayeredRoute(self, layer, .messaging) { $0.provider })
    }
}

extension TokenVerifier {
    /// This verifier, with `layer` around each of its checks.
    public func layered(_ layer: any ClientLayer) -> Routed<any TokenVerifier> {
        Routed(LayeredRoute(self, layer, .auth) { $0.provider })
    }
}

/// An auth client with a layer around each of its calls. All attempts at a call that concerns the session use the session of
/// the first attempt.
public struct LayeredAuthClient: RoutedAuthClient {
    public let route: any Route<any AuthClient>

    init(_ base: any AuthClient, _ layer: any ClientLayer) {
        route = LayeredRoute(base, layer, .auth) { $0.provider }
    }

    @discardableResult
    public func reloadUser() async throws(AuthError) -> AuthUser {
        try await bound(.reloadUser, to: \.id) { auth throws(AuthError) in try await auth.reloadUser() }
    }
    public func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken {
        try await bound("access token", to: \.userID) { auth throws(AuthError) in
            try await auth.accessToken(refreshing: refreshing)
        }
    }

    /// Repeats only while the session is unchanged, and never returns an answer for another session.
    private func bound<Result>(
        _ operation: ClientOperation, to user: (Result) -> AuthUser.ID,
        _ body: (any AuthClient) async throws(AuthError) -> Result
    ) async throws(AuthError) -> Result {
        let owner = await state.user?.id
        let operation = ClientOperation(operation.name, isRepeatable: owner != nil, operation.subject)
        return try await route.call(operation) { auth throws(AuthError) in
            let result = try await body(auth)
            guard owner == nil || user(result) == owner else {
                throw AuthError(.sessionChanged, "Another session replaced the one that the call began with.")
            }
            return result
        }
    }
}

/// A messaging client with a layer around each of its calls. Everything that goes to the server can be repeated: a
/// registration or subscription is there or not.
public struct LayeredMessagingClient: MessagingClient {
    public let base: any MessagingClient
    private let layer: any ClientLayer

    public init(_ base: any MessagingClient, _ layer: any ClientLayer) {
        self.base = base
        self.layer = layer
    }

    public var provider: InfrastructureProvider { base.provider }
    public var capabilities: MessagingCapabilities { base.capabilities }
    public var permission: MessagingPermission { get async { await base.permission } }

    public func requestPermission() async throws(MessagingError) -> MessagingPermission {
        try await call("request permission", isRepeatable: false) { () throws(MessagingError) in
            try await base.requestPermission()
        }
    }
    public func setPlatformToken(_ token: PlatformPushToken?) async throws(MessagingError) {
        try await call("set platform token") { () throws(MessagingError) in try await base.setPlatformToken(token) }
    }
    public func token() async throws(MessagingError) -> MessagingToken {
        try await call("token") { () throws(MessagingError) in try await base.token() }
    }
    public func deleteToken() async throws(MessagingError) {
        try await call("delete token") { () throws(MessagingError) in try await base.deleteToken() }
    }
    public func subscribe(to topic: MessagingTopic) async throws(MessagingError) {
        try await call("subscribe") { () throws(MessagingError) in try await base.subscribe(to: topic) }
    }
    public func unsubscribe(from topic: MessagingTopic) async throws(MessagingError) {
        try await call("unsubscribe") { () throws(MessagingError) in try await base.unsubscribe(from: topic) }
    }
    public func tokenStream() -> SnapshotStream<MessagingToken?, MessagingError> {
        layer.stream(about("token stream"), base.tokenStream())
    }
    public func messageStream() -> EventStream<RemoteMessage, MessagingError> {
        layer.stream(about("message stream"), base.messageStream())
    }
    public func receive(_ payload: RemotePayload) async throws(MessagingError) -> RemoteMessage? {
        try await call("receive", isRepeatable: false) { () throws(MessagingError) in try await base.receive(payload) }
    }
    public func shutDown() async { await base.shutDown() }
    public func unwrapped<Client>(as type: Client.Type) -> Client? { self as? Client ?? base.unwrapped(as: type) }

    private func about(_ operation: String, isRepeatable: Bool = false) -> ClientCall {
        ClientCall(service: .messaging, provider: base.provider, operation: operation, isRepeatable: isRepeatable)
    }
    private func call<Result>(
        _ operation: String, isRepeatable: Bool = true, _ body: () async throws(MessagingError) -> Result
    ) async throws(MessagingError) -> Result {
        try await layer.call(about(operation, isRepeatable: isRepeatable)) { () throws(MessagingError) in
            try await body()
        }
    }
}

extension MessagingClient {
    /// This client, with `layer` around each of its calls.
    public func layered(_ layer: any ClientLayer) -> LayeredMessagingClient { LayeredMessagingClient(self, layer) }
    /// This client, with calls repeated that failed for a passing reason and are safe to repeat.
    public func retrying(_ policy: RetryPolicy = .standard) -> LayeredMessagingClient { layered(RetryLayer(policy)) }
    /// This client, with `observer` told of everything it does.
    public func observed(by observer: any InfrastructureObserver) -> LayeredMessagingClient {
        layered(ObserveLayer(observer))
    }
}

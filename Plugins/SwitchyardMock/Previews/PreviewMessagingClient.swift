public import Switchyard

/// A messaging client for previews; messages are sent by the backend's ``MockMessages``.
public struct PreviewMessagingClient: MessagingClient {
    private let base: MockMessagingClient

    /// - Parameter backend: Shared with the other preview clients of a screen.
    public init(_ backend: MockBackend = .sample()) { base = MockMessagingClient(backend) }

    public var provider: InfrastructureProvider { base.provider }
    public var capabilities: MessagingCapabilities { base.capabilities }
    public var permission: MessagingPermission { get async { await base.permission } }
    public func requestPermission() async throws(MessagingError) -> MessagingPermission {
        try await base.requestPermission()
    }
    public func setPlatformToken(_ token: PlatformPushToken?) async throws(MessagingError) {
        try await base.setPlatformToken(token)
    }
    public func token() async throws(MessagingError) -> MessagingToken { try await base.token() }
    public func deleteToken() async throws(MessagingError) { try await base.deleteToken() }
    public func subscribe(to topic: MessagingTopic) async throws(MessagingError) {
        try await base.subscribe(to: topic)
    }
    public func unsubscribe(from topic: MessagingTopic) async throws(MessagingError) {
        try await base.unsubscribe(from: topic)
    }
    public func tokenStream() -> SnapshotStream<MessagingToken?, MessagingError> { base.tokenStream() }
    public func messageStream() -> EventStream<RemoteMessage, MessagingError> { base.messageStream() }
    @discardableResult
    public func receive(_ payload: RemotePayload) async throws(MessagingError) -> RemoteMessage? {
        try await base.receive(payload)
    }
    public func shutDown() async { await base.shutDown() }
    public func unwrapped<Client>(as type: Client.Type) -> Client? { self as? Client ?? base.unwrapped(as: type) }
}

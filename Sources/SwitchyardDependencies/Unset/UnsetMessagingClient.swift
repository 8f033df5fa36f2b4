import Switchyard

/// Stands for a dependency that nobody set: every operation fails and says which one it was.
struct UnsetMessagingClient: MessagingClient {
    var provider: InfrastructureProvider { "unset" }
    var capabilities: MessagingCapabilities { MessagingCapabilities() }
    var permission: MessagingPermission { .undetermined }
    func requestPermission() async throws(MessagingError) -> MessagingPermission { throw .unset("requestPermission") }
    func setPlatformToken(_ token: PlatformPushToken?) async throws(MessagingError) { throw .unset("setPlatformToken") }
    func token() async throws(MessagingError) -> MessagingToken { throw .unset("token") }
    func deleteToken() async throws(MessagingError) { throw .unset("deleteToken") }
    func subscribe(to topic: MessagingTopic) async throws(MessagingError) { throw .unset("subscribe") }
    func unsubscribe(from topic: MessagingTopic) async throws(MessagingError) { throw .unset("unsubscribe") }
    func tokenStream() -> SnapshotStream<MessagingToken?, MessagingError> { .failing(.unset("tokenStream")) }
    func messageStream() -> EventStream<RemoteMessage, MessagingError> { .failing(.unset("messageStream")) }
    func receive(_ payload: RemotePayload) async throws(MessagingError) -> RemoteMessage? { throw .unset("receive") }
}

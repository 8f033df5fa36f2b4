/// The messaging of an ``Infrastructure``: always the chosen one.
struct SwitchableMessagingClient: MessagingClient {
    let board: Switchboard<any MessagingClient>

    var provider: InfrastructureProvider { board.client.provider }
    var capabilities: MessagingCapabilities { board.client.capabilities }
    var permission: MessagingPermission { get async { await board.run { client in await client.permission } } }

    func requestPermission() async throws(MessagingError) -> MessagingPermission {
        try await board.run { client throws(MessagingError) in try await client.requestPermission() }
    }
    func setPlatformToken(_ token: PlatformPushToken?) async throws(MessagingError) {
        try await board.run { client throws(MessagingError) in try await client.setPlatformToken(token) }
    }
    func token() async throws(MessagingError) -> MessagingToken {
        try await board.run { client throws(MessagingError) in try await client.token() }
    }
    func deleteToken() async throws(MessagingError) {
        try await board.run { client throws(MessagingError) in try await client.deleteToken() }
    }
    func subscribe(to topic: MessagingTopic) async throws(MessagingError) {
        try await board.run { client throws(MessagingError) in try await client.subscribe(to: topic) }
    }
    func unsubscribe(from topic: MessagingTopic) async throws(MessagingError) {
        try await board.run { client throws(MessagingError) in try await client.unsubscribe(from: topic) }
    }
    func tokenStream() -> SnapshotStream<MessagingToken?, MessagingError> { board.snapshots { $0.tokenStream() } }
    func messageStream() -> EventStream<RemoteMessage, MessagingError> { board.events { $0.messageStream() } }
    func receive(_ payload: RemotePayload) async throws(MessagingError) -> RemoteMessage? {
        try await board.run { client throws(MessagingError) in try await client.receive(payload) }
    }
    func shutDown() async { await board.client.shutDown() }
    func unwrapped<Client>(as type: Client.Type) -> Client? {
        self as? Client ?? board.client.unwrapped(as: type)
    }
}

package import Switchyard
import SwitchyardMock

package struct MockMessagingHarness: MessagingHarness {
    package let features = MessagingFeatures(.all)
    private let backend = MockBackend()

    private let around: @Sendable (any MessagingClient) -> any MessagingClient

    /// - Parameter around: Adds layers to each client.
    package init(around: @escaping @Sendable (any MessagingClient) -> any MessagingClient = { $0 }) {
        self.around = around
    }

    package func makeMessagingClient() async throws -> any MessagingClient { around(MockMessagingClient(backend)) }
    package func platformToken() -> PlatformPushToken? {
        PlatformPushToken(.apns, token: Secret("\(UInt64.random(in: 0..<UInt64.max))"))
    }
    package func payload(_ message: RemoteMessage) throws -> RemotePayload { backend.messages.payload(of: message) }
    package func send(_ message: RemoteMessage, to token: MessagingToken) async throws {
        try backend.messages.send(title: message.title, body: message.body, data: message.data, to: token)
    }
    package func send(_ message: RemoteMessage, to topic: MessagingTopic) async throws {
        backend.messages.send(title: message.title, body: message.body, data: message.data, to: topic)
    }
}

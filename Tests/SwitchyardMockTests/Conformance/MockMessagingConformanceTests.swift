import Switchyard
import SwitchyardConformance
import SwitchyardMock
import Testing

struct MockMessagingHarness: MessagingHarness {
    let features = MessagingFeatures(.all)
    private let backend = MockBackend()

    func makeMessagingClient() async throws -> any MessagingClient { MockMessagingClient(backend) }
    func platformToken() -> PlatformPushToken? {
        PlatformPushToken(.apns, token: Secret("\(UInt64.random(in: 0..<UInt64.max))"))
    }
    func payload(_ message: RemoteMessage) throws -> RemotePayload { backend.messages.payload(of: message) }
    func send(_ message: RemoteMessage, to token: MessagingToken) async throws {
        try backend.messages.send(title: message.title, body: message.body, data: message.data, to: token)
    }
    func send(_ message: RemoteMessage, to topic: MessagingTopic) async throws {
        backend.messages.send(title: message.title, body: message.body, data: message.data, to: topic)
    }
}

@Suite struct MockMessagingConformanceTests {
    static let harness = MockMessagingHarness()
    static let tally = ConformanceTally("mock messaging", MessagingConformance.all, for: harness.features)

    @Test(arguments: MessagingConformance.checks(for: harness.features))
    func `The mock's messaging`(_ check: MessagingCheck) async throws {
        try await Self.tally.run(check, on: Self.harness)
    }

    @Test func `The mock is spared only what asks for a platform`() {
        #expect(
            MessagingConformance.leftOut(for: Self.harness.features) == [
                "without the platform's token there is none"
            ])
    }
}

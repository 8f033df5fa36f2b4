import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@testable import SwitchyardProviderKit

/// What becomes of messages that arrive while nobody listens.
@Suite struct MessagingHubTests {
    private func messages(_ hub: MessageInbox, _ count: Int) async throws -> [String] {
        let stream = EventStream<RemoteMessage, MessagingError> { hub.listen(messages: $0) }
        var names: [String] = []
        for try await message in stream {
            names.append(message.id)
            if names.count == count { break }
        }
        return names
    }

    @Test func `The newest wait, however many come`() async throws {
        let hub = MessageInbox()
        for number in 1...250 { hub.take(RemoteMessage(id: "m\(number)")) }
        #expect(hub.unheard.count == MessageInbox.capacity)
        #expect(try await messages(hub, 100) == (151...250).map { "m\($0)" })
    }

    @Test func `Nobody is handed what came for whoever used the device before`() async throws {
        let auth = MockAuthClient(MockBackend())
        let alice = try await auth.signUp(email: "alice@example.org", password: "secret-1").get().id
        let hub = MessageInbox(following: auth)
        try await eventually("the hub knows her") { hub.unheard.user == alice }
        hub.take(RemoteMessage(id: "for alice"))
        try await auth.signOut()
        try await eventually("the hub knows that she has left") { hub.unheard.user == nil }
        hub.take(RemoteMessage(id: "for alice, late"))
        let bob = try await auth.signUp(email: "bob@example.org", password: "secret-2").get().id
        try await eventually("the hub knows him") { hub.unheard.user == bob }
        hub.take(RemoteMessage(id: "for bob"))
        #expect(try await messages(hub, 1) == ["for bob"])
    }

    @Test func `After the end nothing is taken any more`() async throws {
        let hub = MessageInbox()
        hub.take(RemoteMessage(id: "m1"))
        hub.shutDown()
        #expect(hub.unheard.count == 0 && !hub.take(RemoteMessage(id: "m2")))
    }
}

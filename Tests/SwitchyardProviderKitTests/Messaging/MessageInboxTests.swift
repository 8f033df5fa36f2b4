import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@testable import SwitchyardProviderKit

/// What becomes of messages that arrive while no one listens.
@Suite struct MessagingHubTests {
    private func messages(_ inbox: MessageInbox, _ count: Int) async throws -> [String] {
        let stream = EventStream<RemoteMessage, MessagingError> { inbox.listen(messages: $0) }
        var names: [String] = []
        for try await message in stream {
            names.append(message.id)
            if names.count == count { break }
        }
        return names
    }

    @Test func `The newest wait, however many come`() async throws {
        let inbox = MessageInbox()
        for number in 1...250 { inbox.take(RemoteMessage(id: "m\(number)")) }
        #expect(inbox.undelivered.count == MessageInbox.capacity)
        #expect(try await messages(inbox, 100) == (151...250).map { "m\($0)" })
    }

    @Test func `No one is handed what came for whoever used the device before`() async throws {
        let auth = MockAuthClient(MockBackend())
        let alice = try await auth.signUp(email: "alice@example.org", password: "secret-1").get().id
        let inbox = MessageInbox(following: SessionFeed(auth))
        try await eventually("the inbox knows her") { inbox.undelivered.user == alice }
        inbox.take(RemoteMessage(id: "for alice"))
        try await auth.signOut()
        try await eventually("the inbox knows that she has left") { inbox.undelivered.user == nil }
        inbox.take(RemoteMessage(id: "for alice, late"))
        let bob = try await auth.signUp(email: "bob@example.org", password: "secret-2").get().id
        try await eventually("the inbox knows him") { inbox.undelivered.user == bob }
        inbox.take(RemoteMessage(id: "for bob"))
        #expect(try await messages(inbox, 1) == ["for bob"])
    }

    @Test func `After the end nothing is taken any more`() async throws {
        let inbox = MessageInbox()
        inbox.take(RemoteMessage(id: "m1"))
        inbox.shutDown()
        #expect(inbox.undelivered.count == 0 && !inbox.take(RemoteMessage(id: "m2")))
    }
}

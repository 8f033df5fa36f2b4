import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@Suite struct MockMessagingTests {
    let backend = MockBackend()
    let network = MockNetwork()
    let messaging: MockMessagingClient

    init() { messaging = MockMessagingClient(backend, network: network) }

    @Test func `Only subscribers get what goes to a topic`() async throws {
        let other = MockMessagingClient(backend)
        _ = try await other.token()
        let here = Gathered(messaging.messageStream())
        let there = Gathered(other.messageStream())
        try await messaging.subscribe(to: "news")
        backend.messages.send(title: "One", to: "news")
        try await eventually("the message") { here.last?.title == "One" }
        try await messaging.unsubscribe(from: "news")
        #expect(backend.messages.subscribers(of: "news").isEmpty)
        backend.messages.send(title: "Two", to: "news")
        try backend.messages.send(title: "Three", to: try await messaging.token())
        try await eventually("the other message") { here.last?.title == "Three" }
        #expect(here.all.count == 2 && there.all.isEmpty)
    }

    @Test func `Messages wait for the network and for a listener`() async throws {
        let token = try await messaging.token()
        network.isOnline = false
        try backend.messages.send(title: "One", to: token)
        network.isOnline = true
        try backend.messages.send(title: "Two", to: token)
        let seen = Gathered(messaging.messageStream())
        try await eventually("both") { seen.all.map(\.title) == ["One", "Two"] }
    }

    @Test(.timeLimit(.minutes(1))) func `A message sent while somebody comes to listen does not stay behind`()
        async throws
    {
        for _ in 0..<300 {
            let messaging = MockMessagingClient(backend, network: network)
            let token = try await messaging.token()
            async let sending: Void = {
                for title in ["One", "Two"] { try backend.messages.send(title: title, to: token) }
            }()
            var titles: Set<String> = []
            for try await message in messaging.messageStream() {
                titles.insert(message.title ?? "")
                if titles.count == 2 { break }
            }
            try await sending
            await messaging.shutDown()
        }
    }

    @Test func `A message that comes twice is delivered once`() async throws {
        let token = try await messaging.token()
        let seen = Gathered(messaging.messageStream())
        let message = try backend.messages.send(title: "One", data: ["k": "v"], to: token)
        let received = try await messaging.receive(backend.messages.payload(of: message, wasOpened: true))
        #expect(received?.id == message.id && received?.wasOpened == true && received?.data == ["k": "v"])
        try backend.messages.send(title: "Two", to: token)
        try await eventually("the second") { seen.last?.title == "Two" }
        #expect(seen.all.count == 2)
    }

    @Test func `Somebody else's payload is none of ours, and damaged ones are refused`() async throws {
        let foreign = RemotePayload(json: .init("{\"aps\":{}}".utf8))
        #expect(try await messaging.receive(foreign) == nil)
        await #expect(throws: MessagingError.self) {
            try await messaging.receive(RemotePayload(json: .init("{".utf8)))
        }
    }

    @Test func `A deleted token reaches no one, and the stream of tokens says so`() async throws {
        let tokens = Gathered(messaging.tokenStream())
        let token = try await messaging.token()
        try await eventually("the token") { tokens.last == .some(token) }
        try await messaging.deleteToken()
        try await eventually("none") { tokens.last == .some(nil) }
        #expect(throws: MessagingError.self) { try backend.messages.send(title: "One", to: token) }
        #expect(try await messaging.token() != token)
    }

    @Test func `The platform's dialog decides, and its answer is recorded`() async throws {
        #expect(await messaging.permission == .undetermined)
        #expect(try await messaging.requestPermission { .denied } == .denied)
        #expect(await messaging.permission == .denied)
        let error = await #expect(throws: MessagingError.self) { try await messaging.subscribe(to: "news") }
        #expect(error?.code == .permissionDenied)
        #expect(try await messaging.requestPermission { .granted } == .granted)
        try await messaging.subscribe(to: "news")
    }

    @MainActor @Test func `The main actor can ask, in a dialog with state of its own`() async throws {
        var dialogs = 0
        let permission = try await messaging.requestPermission {
            MainActor.preconditionIsolated()
            dialogs += 1
            return .granted
        }
        #expect(permission == .granted)
        #expect(dialogs == 1)
    }

    @Test func `A dialog that fails records nothing, and its error is the cause`() async throws {
        struct NoDialog: Error {}
        let error = await #expect(throws: MessagingError.self) {
            try await messaging.requestPermission { throw NoDialog() }
        }
        #expect(error?.underlying is NoDialog)
        #expect(await messaging.permission == .undetermined)
    }

    @Test func `A denial ends the registration, and messages no longer arrive`() async throws {
        let token = try await messaging.token()
        try await messaging.setPermission(.denied)
        #expect(throws: MessagingError.self) { try backend.messages.send(title: "One", to: token) }
    }
}

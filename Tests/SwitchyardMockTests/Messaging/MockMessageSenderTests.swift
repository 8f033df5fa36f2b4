import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

/// What a server sends, by the sender that every provider has.
@Suite struct MockMessageSenderTests {
    private let backend = MockBackend()

    @Test func `A message reaches its device, its topic, or whoever has the right topics`() async throws {
        let (one, other) = (MockMessagingClient(backend), MockMessagingClient(backend))
        let (token, _) = (try await one.token(), try await other.token())
        for topic: MessagingTopic in ["news", "sport"] { try await one.subscribe(to: topic) }
        for topic: MessagingTopic in ["news", "weather"] { try await other.subscribe(to: topic) }
        let (here, there) = (Gathered(one.messageStream()), Gathered(other.messageStream()))

        let sender = MockMessageSender(backend)
        let name = try await sender.send(
            OutgoingMessage(to: .device(token), title: "One", body: "Grüße 😀", data: ["order": "42"]))
        try await sender.send(OutgoingMessage(to: .topic("weather"), title: "Two"))
        try await sender.send(
            OutgoingMessage(to: .condition(.topic("news") && !(.topic("weather") || .topic("snow"))), title: "Three"))
        try await sender.send(OutgoingMessage(to: .condition(.topic("sport") || .topic("weather")), title: "Four"))
        try await eventually("all of them") { here.all.count == 3 && there.all.count == 2 }
        #expect(here.all.map(\.title) == ["One", "Three", "Four"] && there.all.map(\.title) == ["Two", "Four"])
        #expect(here.all[0].id == name && here.all[0].body == "Grüße 😀" && here.all[0].data == ["order": "42"])
        #expect(backend.messages.sent.count == 4)
    }

    @Test func `Of many messages each has its own outcome, in their order`() async throws {
        let sender = MockMessageSender(backend)
        sender.controls.fail(.sendMessage, onCall: 1, times: 2, with: .rateLimited)
        let messages = (0..<40).map { OutgoingMessage(to: .topic("news"), title: "\($0)") }
        let gone = OutgoingMessage(to: .device(MessagingToken("gone")), title: "gone")
        let outcomes = await sender.send(messages + [gone])
        #expect(outcomes.count == 41)
        var names: [String] = []
        for case .success(let name) in outcomes { names.append(name) }
        let arrived = Dictionary(uniqueKeysWithValues: backend.messages.sent.map { ($0.id, $0.title) })
        #expect(names.count == 38 && arrived.count == 38)
        for (outcome, message) in zip(outcomes, messages) {
            if case .success(let name) = outcome { #expect(arrived[name] == message.title) }
        }
        guard case .failure(let error) = outcomes[40] else {
            Issue.record("a message went to no one")
            return
        }
        #expect(error.code == .unregistered)
        #expect(await sender.send([]).isEmpty)
    }

    @Test func `Nothing more is sent once whoever sends is cancelled`() async throws {
        let sender = MockMessageSender(backend)
        let outcomes = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await sender.send([OutgoingMessage(to: .topic("a")), OutgoingMessage(to: .topic("b"))])
        }.value
        #expect(outcomes.allSatisfy { if case .failure(let error) = $0 { error.code == .cancelled } else { false } })
        #expect(outcomes.count == 2 && backend.messages.sent.isEmpty)
    }

    @Test func `A project's sender notifies its observer, keeps to the deadline, and follows the choice for messages`()
        async throws
    {
        let events = EventLog()
        let server = try await Infrastructure(
            MockModule(backend: backend), in: InfrastructureOptions(observer: events))
        let sender = try await server.messageSender()
        let message = OutgoingMessage(to: .topic("news"), title: "Hi")
        try await withRequest(id: "7f3a") { _ = try await sender.send(message) }
        let late = await #expect(throws: MessagingError.self) {
            try await withRequest(deadline: .now) { _ = try await sender.send(message) }
        }
        #expect(late?.code == .deadlineExceeded && backend.messages.sent.map(\.title) == ["Hi"])
        let reported = events.all.filter { event in
            if case .call("send message", _, _) = event.kind { true } else { false }
        }
        #expect(reported.map(\.service) == [.messaging, .messaging] && reported.first?.requestID == "7f3a")
        #expect(sender.provider == .mock)
        await server.shutDown()
        let closed = await #expect(throws: InfrastructureError.self) { _ = try await server.messageSender() }
        #expect(closed?.code == .shutDown)
    }

    @Test func `Without a provider for messages nothing is sent`() async throws {
        var selection = InfrastructureSelection(default: .mock)
        selection.omit(.messaging)
        let server = try await InfrastructureFactory(MockModule(backend: backend)).make(selection)
        let error = await #expect(throws: InfrastructureError.self) { _ = try await server.messageSender() }
        #expect(error?.code == .unsupported)
        await server.shutDown()
    }

    @Test func `Where a message goes is printed, and nothing of it`() {
        let condition: MessagingCondition = .topic("a") && (.topic("b") || !.topic("c"))
        let message = OutgoingMessage(to: .condition(condition), title: "secret")
        #expect("\(message)" == "OutgoingMessage(to (a && (b || !c)))")
        #expect("\(OutgoingMessage(to: .device(MessagingToken("secret"))))" == "OutgoingMessage(to a device)")
        #expect("\(OutgoingMessage(to: .topic("a"), data: ["secret": "s"]))" == "OutgoingMessage(to a)")
    }
}

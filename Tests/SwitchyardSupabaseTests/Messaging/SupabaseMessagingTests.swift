import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

@Suite struct SupabaseMessagingTests {
    private func withStub(_ body: (MessagingStub) async throws -> Void) async throws {
        let stub = try MessagingStub()
        do {
            try await body(stub)
        } catch {
            await stub.stop()
            throw error
        }
        await stub.stop()
    }

    @Test func `A token of the platform is stored beside the installation, and replaced`() async throws {
        try await withStub { stub in
            let client = try stub.client()
            try await client.setPlatformToken(PlatformPushToken(.apns, token: "platform-1"))
            #expect(stub.calls.isEmpty, "nothing is registered before it is asked for")
            let token = try await client.token()
            let id = token.value.reveal()
            #expect(stub.installations[id]?["service"] == "apns")
            #expect(stub.installations[id]?["token"] == "platform-1")
            try await client.setPlatformToken(PlatformPushToken(.apns, token: "platform-2"))
            #expect(stub.installations[id]?["token"] == "platform-2")
            try await client.setPlatformToken(nil)
            #expect(stub.installations[id] != nil && stub.installations[id]?["token"] == nil)
            await client.shutDown()
        }
    }

    @Test func `Registration and topics are taken up again after a restart`() async throws {
        let folder = ScratchSpace.url.appendingPathComponent("messaging-\(UInt64.random(in: 0..<UInt64.max))")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withStub { stub in
            let first = try stub.client(folder: folder)
            let token = try await first.token()
            try await first.subscribe(to: "news")
            await first.shutDown()

            let second = try stub.client(folder: folder)
            let messages = await second.messageStream().begun()
            let joins = stub.joins
            try await eventually("both channels are joined again") { stub.joins >= joins + 2 || stub.joins >= 4 }
            await stub.send("switchyard:topic:news", ["id": "a", "title": "News"])
            await stub.send("switchyard:installation:\(token.value.reveal())", ["id": "b", "title": "You"])
            var titles: Set<String> = []
            for try await message in messages {
                titles.insert(message.title ?? "")
                if titles.count == 2 { break }
            }
            #expect(titles == ["News", "You"])
            #expect(try await second.token() == token)
            await second.shutDown()
        }
    }

    @Test func `A connection that is cut is made again, and messages go on`() async throws {
        try await withStub { stub in
            let client = try stub.client()
            try await client.subscribe(to: "news")
            let messages = await client.messageStream().begun()
            stub.dropConnections()
            try await eventually("the channel is joined again", within: .seconds(20)) { stub.joins == 2 }
            await stub.send("switchyard:topic:news", ["id": "a", "data": ["n": 1, "t": "x"]])
            for try await message in messages {
                #expect(message.data == ["n": "1", "t": "x"])
                #expect(message.topic == "news")
                break
            }
            await client.shutDown()
        }
    }

    @Test func `A topic that was just left can be taken up again`() async throws {
        try await withStub { stub in
            let client = try stub.client()
            let messages = await client.messageStream().begun()
            for _ in 0..<5 {
                try await client.subscribe(to: "news")
                try await client.unsubscribe(from: "news")
            }
            try await client.subscribe(to: "news")
            await stub.send("switchyard:topic:news", ["id": "a"])
            for try await message in messages {
                #expect(message.id == "a")
                break
            }
            await client.shutDown()
        }
    }

    @Test func `A message that came live and by push shows once`() async throws {
        try await withStub { stub in
            let client = try stub.client()
            try await client.subscribe(to: "news")
            let messages = await client.messageStream().begun()
            let own: JSON = ["id": "a", "title": "Hi", "topic": "news", "sentAt": "2026-01-02T03:04:05.678901Z"]
            let payload: JSON = ["aps": [:], "switchyard": .string(own.text())]
            let pushed = try await client.receive(RemotePayload(json: Data(payload.bytes())))
            #expect(pushed?.title == "Hi" && pushed?.topic == "news" && pushed?.sentAt != nil)
            await stub.send("switchyard:topic:news", own)
            await stub.send("switchyard:topic:news", ["id": "b"])
            var ids: [String] = []
            for try await message in messages {
                ids.append(message.id)
                if message.id == "b" { break }
            }
            #expect(ids == ["a", "b"])
            await client.shutDown()
        }
    }

    @Test func `A database with functions from before messaging says so`() async throws {
        try await withStub { stub in
            stub.setVersion(1)
            let client = try stub.client()
            let error = await #expect(throws: MessagingError.self) {
                () async throws -> Void in _ = try await client.token()
            }
            #expect(error?.code == .unsupported)
            #expect(error?.underlying as? SupabaseSchemaProblem == .tooOld(version: 1, needed: 4))
            await client.shutDown()
        }
    }

    @Test func `A channel that policies deny is refused, and not waited for`() async throws {
        try await withStub { stub in
            let transport = CurlTransport()
            let socket = RealtimeSocket(
                stub.address, tokens: SupabaseTokens(key: "key", auth: nil), transport: transport)
            let channel = try socket.join(
                "switchyard:installation:unknown", RealtimeConfiguration(isPrivate: true))
            let hub = MessageInbox()
            let service = PostgRESTService(
                project: try SupabaseProject(stub.url), tokens: SupabaseTokens(key: "key", auth: nil),
                transport: transport)
            let listener = MessageListener(
                channel, of: .installation("unknown"), hub: hub,
                missed: MissedMessages(service, hub: hub, pause: .seconds(25), clock: ContinuousClock()),
                ended: { _ in })
            let error = await #expect(throws: MessagingError.self) {
                () async throws -> Void in try await listener.joined()
            }
            #expect(error?.code == .unauthorized)
            socket.close()
            await transport.shutDown()
        }
    }

    // MARK: Sending

    @Test func `Only a server with the service key sends, by the topic's bare name`() async throws {
        #expect(throws: InfrastructureError.self) {
            _ = try SupabaseMessageSender(SupabaseConfiguration(url: "https://demo.supabase.co", key: "k"))
        }
        let transport = ScriptedTransport([
            .on(
                .post, "https://demo.supabase.co/realtime/v1/api/broadcast",
                check: { recorded in
                    let message = (try? JSON(parsing: recorded.body))?["messages"]?[0]
                    guard recorded.request.headers["apikey"] == "sb_secret_1",
                        recorded.request.headers["Authorization"] == nil
                    else { return "the keys are others" }
                    guard message?["topic"] == "switchyard:topic:news", message?["private"] == true,
                        message?["payload"]?["title"] == "Hi", message?["payload"]?["id"]?.string?.isEmpty == false
                    else { return "the message is another" }
                    return nil
                }, .status(202)),
            .on(
                .post, "https://demo.supabase.co/realtime/v1/api/broadcast",
                .json("{}", status: 429, headers: ["Retry-After": "3"])),
            .on(.post, "https://demo.supabase.co/realtime/v1/api/broadcast", .json("{}", status: 422)),
        ])
        let sender = try SupabaseMessageSender(
            SupabaseConfiguration(url: "https://demo.supabase.co", key: "k", serviceKey: "sb_secret_1"),
            transport: transport)
        try await sender.send(title: "Hi", to: .topic("news"))
        let limited = await #expect(throws: MessagingError.self) {
            () async throws -> Void in _ = try await sender.send(to: .topic("news"))
        }
        #expect(limited?.code == .rateLimited && limited?.retryAfter == .seconds(3))
        let large = await #expect(throws: MessagingError.self) {
            () async throws -> Void in _ = try await sender.send(to: .device(MessagingToken("x")))
        }
        #expect(large?.code == .invalidArgument)
        try transport.verify()
    }

    @Test
    func `Messages are sent for a request: its observer is notified of them, and none is sent after its deadline`()
        async throws
    {
        let events = EventLog()
        let transport = ScriptedTransport([
            .on(.post, "https://demo.supabase.co/realtime/v1/api/broadcast", .status(202))
        ])
        let sender = try SupabaseMessageSender(
            SupabaseConfiguration(url: "https://demo.supabase.co", key: "k", serviceKey: "sb_secret_1"),
            transport: transport, observer: events)
        try await withRequest(id: "7f3a") { _ = try await sender.send(title: "Hi", to: .topic("news")) }
        let late = await #expect(throws: MessagingError.self) {
            try await withRequest(deadline: .now) { _ = try await sender.send(title: "Hi", to: .topic("news")) }
        }
        #expect(late?.code == .deadlineExceeded)
        #expect(events.calls == ["messaging: send message", "messaging: send message (deadlineExceeded)"])
        #expect(events.all.map(\.requestID) == ["7f3a", nil])
        try transport.verify()
    }

    @Test func `Of many messages each has its own outcome, in their order`() async throws {
        let gate = Gate()
        // The first answer comes after the last message was sent.
        let script = (0..<20).map { number in
            ScriptedExchange.on(
                .post, "https://demo.supabase.co/realtime/v1/api/broadcast",
                check: { recorded in
                    let messages = (try? JSON(parsing: recorded.body))?["messages"]
                    let isIt =
                        messages?.array?.count == 1 && messages?[0]?["topic"]?.string == "switchyard:topic:t\(number)"
                        && messages?[0]?["payload"]?["data"]?["number"]?.string == "\(number)"
                    return isIt ? nil : "the message is another"
                },
                reply: { _ in
                    if number == 19 { gate.open() }
                    let reply: ScriptedReply =
                        switch number % 4 {
                        case 0: .status(202)
                        case 1: .json("{}", status: 422)
                        case 2: .json("{}", status: 429, headers: ["Retry-After": "3"])
                        default: .text("", status: 503)
                        }
                    return number == 0 ? reply.delayed(until: gate) : reply
                })
        }
        let transport = ScriptedTransport(order: .any, script)
        let sender = try SupabaseMessageSender(
            SupabaseConfiguration(url: "https://demo.supabase.co", key: "k", serviceKey: "sb_secret_1"),
            transport: transport)
        let messages = try (0..<20).map { number in
            SupabaseMessage(
                to: .topic(try MessagingTopic(validating: "t\(number)")), title: "Hi", data: ["number": "\(number)"])
        }
        let results = await sender.send(messages)
        #expect(results.count == 20)
        var names: Set<String> = []
        for (number, result) in results.enumerated() {
            switch result {
            case .success(let name):
                #expect(number % 4 == 0)
                names.insert(name)
            case .failure(let error):
                let codes: [MessagingError.Code] = [.unknown, .invalidArgument, .rateLimited, .unavailable]
                #expect(error.code == codes[number % 4], "message \(number)")
                #expect(error.code != .rateLimited || error.retryAfter == .seconds(3))
            }
        }
        #expect(names.count == 5)
        try transport.verify()
        #expect(await sender.send([]).isEmpty)
    }

    @Test func `Messages that were not sent when the caller left say so`() async throws {
        let transport = ScriptedTransport()
        let sender = try SupabaseMessageSender(
            SupabaseConfiguration(url: "https://demo.supabase.co", key: "k", serviceKey: "sb_secret_1"),
            transport: transport)
        let results = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await sender.send([SupabaseMessage(to: .topic("news")), SupabaseMessage(to: .topic("sport"))])
        }.value
        #expect(results.count == 2)
        for result in results {
            #expect(throws: MessagingError.self) { try result.get() }
        }
        #expect(transport.requests.isEmpty)
    }
}

import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardFirebase

@Suite struct FirebaseMessageSenderTests {
    private static let place = "https://fcm.googleapis.com/v1/projects/demo"
    private static let url = "\(place)/messages:send"
    private static let sent = ScriptedExchange.on(.post, url, .json(#"{"name":"projects/demo/messages/0:1"}"#))

    private func sender(_ transport: ScriptedTransport) throws -> FirebaseMessageSender {
        try FirebaseMessageSender(
            FirebaseConfiguration(project: "demo", apiKey: "key"), transport: transport,
            now: { Timestamp(microseconds: 1_700_000_000_000_000) }
        ) { isRefused in isRefused ? "second" : "first" }
    }

    private func body(_ transport: ScriptedTransport, _ index: Int = 0) -> JSON {
        (try? JSON(parsing: transport.requests[index].body)) ?? .null
    }

    @Test func `A message for a device says everything once`() async throws {
        let transport = ScriptedTransport([Self.sent])
        let message = FirebaseMessage(
            to: .device(MessagingToken("cIrBbg6RTkSzQJbQG3ZsVe")), title: "Hi", body: "There",
            imageURL: URL(string: "https://x/p.png"), data: ["orderId": "42"], lifetime: .seconds(3600),
            collapseKey: "k", analyticsLabel: "l")
        #expect(try await sender(transport).send(message) == "projects/demo/messages/0:1")
        #expect(transport.requests[0].request.headers["Authorization"] == "Bearer first")
        #expect(transport.requests[0].request.headers["x-goog-api-key"] == nil)
        #expect(!transport.requests[0].request.isIdempotent, "sent twice it arrives twice")
        #expect(
            body(transport) == [
                "message": [
                    "fid": "cIrBbg6RTkSzQJbQG3ZsVe",
                    "notification": ["title": "Hi", "body": "There", "image": "https://x/p.png"],
                    "data": ["orderId": "42"],
                    "android": ["priority": "HIGH", "ttl": "3600s", "collapse_key": "k"],
                    "apns": [
                        "headers": ["apns-priority": "10", "apns-collapse-id": "k", "apns-expiration": "1700003600"]
                    ],
                    "webpush": ["headers": ["TTL": "3600"]], "fcm_options": ["analytics_label": "l"],
                ]
            ])
    }

    @Test
    func `Messages are sent for a request: its observer is notified of them, and none is sent after its deadline`()
        async throws
    {
        let (events, transport) = (EventLog(), ScriptedTransport([Self.sent]))
        let sender = try FirebaseMessageSender(
            FirebaseConfiguration(project: "demo", apiKey: "key"), transport: transport, observer: events
        ) { _ in "token" }
        let message = FirebaseMessage(to: .topic("news"), title: "Hi")
        try await withRequest(id: "7f3a") { _ = try await sender.send(message) }
        let late = await #expect(throws: MessagingError.self) {
            try await withRequest(deadline: .now) { _ = try await sender.send(message) }
        }
        #expect(late?.code == .deadlineExceeded)
        #expect(events.calls == ["messaging: send message", "messaging: send message (deadlineExceeded)"])
        #expect(events.all.map(\.requestID) == ["7f3a", nil])
        try transport.verify()
    }

    @Test(arguments: [
        (Duration.seconds(-1), "0", "0"), (.milliseconds(1), "0", "0"), (.seconds(60), "60", "1700000060"),
        (.seconds(Int64.max), "2419200", "1702419200"),
    ])
    func `A message is worth delivering for four weeks at most`(lifetime: Duration, span: String, end: String) throws {
        let message = FirebaseMessage(to: .topic("news"), lifetime: lifetime)
        let json = try message.json(at: Timestamp(microseconds: 1_700_000_000_000_000))
        #expect(json["webpush"]?["headers"]?["TTL"]?.string == span)
        #expect(json["android"]?["ttl"]?.string == span + "s")
        #expect(json["apns"]?["headers"]?["apns-expiration"]?.string == end)
    }

    @Test func `Each target has its own field, and there is exactly one`() async throws {
        let transport = ScriptedTransport([Self.sent, Self.sent, Self.sent])
        let sender = try sender(transport)
        try await sender.send(FirebaseMessage(to: .device(MessagingToken("cIr:APA91b_old")), title: "x"))
        try await sender.send(FirebaseMessage(to: .topic("news"), title: "x"), isDryRun: true)
        try await sender.send(FirebaseMessage(to: .condition("'a' in topics"), title: "x"))
        let targets = (0..<3).map { index in
            ["fid", "token", "topic", "condition"].filter { body(transport, index)["message"]?[$0] != nil }
        }
        #expect(targets == [["token"], ["topic"], ["condition"]])
        #expect(body(transport, 1)["validate_only"]?.bool == true && body(transport, 0)["validate_only"] == nil)
    }

    @Test(arguments: ["from", "message_type", "gcm", "google.x", "gcm.notification.a", "collapse_key"])
    func `Names of the service are not sent as data`(key: String) async throws {
        let transport = ScriptedTransport()
        let sender = try sender(transport)
        await #expect(throws: MessagingError.self) {
            try await sender.send(FirebaseMessage(to: .topic("news"), data: [key: "x"]))
        }
        #expect(transport.requests.isEmpty)
    }

    @Test func `Too much data is refused before it is sent`() async throws {
        let sender = try sender(ScriptedTransport([Self.sent]))
        let data = ["k": String(repeating: "x", count: 3000)]
        await #expect(throws: MessagingError.self) {
            try await sender.send(FirebaseMessage(to: .topic("news"), data: data))
        }
        try await sender.send(FirebaseMessage(to: .device(MessagingToken("t")), data: data))
    }

    @Test(arguments: [
        (404, "NOT_FOUND", "UNREGISTERED", MessagingError.Code.unregistered),
        (403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH", .unauthorized),
        (401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR", MessagingError.Code(rawValue: "THIRD_PARTY_AUTH_ERROR")),
        (429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", .rateLimited),
        (400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", .invalidArgument),
        (503, "UNAVAILABLE", "UNAVAILABLE", .unavailable), (500, "INTERNAL", "INTERNAL", .unavailable),
        (400, "SOMETHING_NEW", "SOMETHING_NEW", MessagingError.Code(rawValue: "SOMETHING_NEW")),
    ])
    func `The service's own code counts, not the general one`(
        status: Int, general: String, own: String, code: MessagingError.Code
    ) async throws {
        let answer =
            #"{"error":{"code":\#(status),"message":"text of the server","status":"\#(general)","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(own)"}]}}"#
        let transport = ScriptedTransport([
            .on(.post, Self.url, .json(answer, status: status, headers: ["Retry-After": "60"]))
        ])
        let sender = try sender(transport)
        do throws(MessagingError) {
            try await sender.send(FirebaseMessage(to: .topic("news"), title: "x"))
            #expect(Bool(false), "it was sent")
        } catch {
            #expect(error.code == code && !error.description.contains("text of the server"))
            #expect(status != 429 || error.retryAfter == .seconds(60))
        }
    }

    @Test func `Who sends too much waits a minute where nothing is said about it`() async throws {
        let sender = try sender(ScriptedTransport([.on(.post, Self.url, .json("{}", status: 429))]))
        let error = await #expect(throws: MessagingError.self) {
            try await sender.send(FirebaseMessage(to: .topic("news"), title: "x"))
        }
        #expect(error?.code == .rateLimited && error?.retryAfter == .seconds(60))
    }

    @Test func `A refused token is replaced once`() async throws {
        let refusal = ScriptedExchange.on(
            .post, Self.url, .json(#"{"error":{"code":401,"status":"UNAUTHENTICATED"}}"#, status: 401))
        let transport = ScriptedTransport([refusal, Self.sent, refusal, refusal])
        let sender = try sender(transport)
        try await sender.send(FirebaseMessage(to: .topic("news"), title: "x"))
        #expect(transport.requests[1].request.headers["Authorization"] == "Bearer second")
        await #expect(throws: MessagingError.self) {
            try await sender.send(FirebaseMessage(to: .topic("news"), title: "x"))
        }
        try transport.verify()
    }

    @Test func `Of many messages each has its own outcome, in their order`() async throws {
        let gate = Gate()
        // The first answer comes after the last message was sent.
        let script = (0..<20).map { number in
            ScriptedExchange.on(
                .post, Self.url,
                check: { recorded in
                    let message = (try? JSON(parsing: recorded.body))?["message"]
                    return message?["topic"]?.string == "t\(number)" ? nil : "the message is another"
                },
                reply: { _ in
                    if number == 19 { gate.open() }
                    let reply: ScriptedReply =
                        switch number % 4 {
                        case 0: .json(#"{"name":"projects/demo/messages/\#(number)"}"#)
                        case 1: .json(#"{"error":{"details":[{"errorCode":"UNREGISTERED"}]}}"#, status: 404)
                        case 2: .json("{}", status: 429, headers: ["Retry-After": "7"])
                        default: .text("", status: 503)
                        }
                    return number == 0 ? reply.delayed(until: gate) : reply
                })
        }
        let transport = ScriptedTransport(order: .any, script)
        var messages = try (0..<20).map {
            FirebaseMessage(to: .topic(try MessagingTopic(validating: "t\($0)")), title: "x")
        }
        // Nothing is sent of what the service would refuse.
        messages.insert(FirebaseMessage(to: .topic("news"), data: ["from": "x"]), at: 10)
        var results = try await sender(transport).send(messages, isDryRun: true)
        guard results.count == 21, case .failure(let refused) = results.remove(at: 10) else {
            Issue.record("one of 21 messages has no outcome")
            return
        }
        #expect(refused.code == .invalidArgument)
        for (number, result) in results.enumerated() {
            switch result {
            case .success(let name): #expect(number % 4 == 0 && name == "projects/demo/messages/\(number)")
            case .failure(let error):
                let codes: [MessagingError.Code] = [.unknown, .unregistered, .rateLimited, .unavailable]
                #expect(error.code == codes[number % 4], "message \(number)")
                #expect(error.code != .rateLimited || error.retryAfter == .seconds(7))
            }
        }
        #expect(try transport.requests.allSatisfy { try JSON(parsing: $0.body)["validate_only"] == true })
        try transport.verify()
    }

    @Test func `Of no messages there is no outcome`() async throws {
        let transport = ScriptedTransport()
        #expect(try await sender(transport).send([]).isEmpty)
        #expect(transport.requests.isEmpty)
    }

    @Test func `Topics of a device are set from a server, and what is so already is no error`() async throws {
        let place = "\(Self.place)/registrations/t%3A1/topicSubscriptions"
        let transport = ScriptedTransport([
            .on(.post, "\(place)?topic_name=news", .json(#"{"error":{"status":"ALREADY_EXISTS"}}"#, status: 409)),
            .on(.delete, "\(place)/news?allowMissing=true", .json("{}")),
        ])
        let sender = try sender(transport)
        try await sender.subscribe(MessagingToken("t:1"), to: "news")
        try await sender.unsubscribe(MessagingToken("t:1"), from: "news")
        try transport.verify()
    }
}

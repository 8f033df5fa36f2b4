import Foundation
import Switchyard
import SwitchyardBytes

/// The behaviour of `MessagingClient`, as checks that every provider passes according to its capabilities.
public enum MessagingConformance {
    public static let all: [MessagingCheck] = [tokenChecks, messageChecks, topicChecks, careChecks].flatMap { $0 }

    /// The checks that apply to a provider with these features.
    public static func checks(for features: MessagingFeatures) -> [MessagingCheck] { all.applicable(to: features) }

    /// The names of the checks that are skipped for a provider with these features.
    public static func leftOut(for features: MessagingFeatures) -> [String] { all.leftOut(for: features) }
}

extension MessagingConformance {
    static let tokenChecks: [MessagingCheck] = [
        MessagingCheck("an installation has a token of its own, and keeps it", needs: .tokens) { context in
            let client = try await context.client()
            let token = try await client.token()
            try expect(!token.value.isEmpty, "the token is not empty", found: "an empty one")
            try expect(try await client.token() == token, "it is the same when asked again", found: "another")
            try expect(
                try await context.client().token() != token, "another installation has another", found: "the same")
        },
        MessagingCheck("without the platform's token there is none", needs: .platformToken) { context in
            let client = try await context.bareClient()
            try await context.expectFailure(.noPlatformToken, in: "asking for a token") { try await client.token() }
        },
        MessagingCheck("the stream of tokens begins with what there is", needs: .tokens) { context in
            let client = try await context.client()
            let probe = context.watch(client.tokenStream())
            try await probe.first("a first element")
            let token = try await client.token()
            try await probe.newest("the token") { $0 == token }
            try await context.watch(client.tokenStream()).first("the token, for one who comes late") { $0 == token }
        },
        MessagingCheck("a deleted token is gone, and the next one is another", needs: .tokens) { context in
            let client = try await context.client()
            let probe = context.watch(client.tokenStream())
            let first = try await client.token()
            try await probe.newest("the token") { $0 == first }
            try await client.deleteToken()
            try await probe.newest("that there is none") { $0 == nil }
            let second = try await client.token()
            try expect(second != first, "the next token is another", found: "the same")
            try await probe.newest("the next token") { $0 == second }
        },
        MessagingCheck("deleting a token that is not there is no error", needs: .tokens) { context in
            let client = try await context.client()
            try await client.deleteToken()
            _ = try await client.token()
            try await client.deleteToken()
            try await client.deleteToken()
        },
        MessagingCheck("a new token of the platform leaves the installation reachable", needs: .tokens) { context in
            let client = try await context.client()
            _ = try await client.token()
            if let token = context.harness.platformToken() { try await client.setPlatformToken(token) }
            try expect(try await !client.token().value.isEmpty, "there is a token", found: "an empty one")
        },
        MessagingCheck("many who ask for a token at once get the same", needs: .tokens) { context in
            let client = try await context.client()
            let tokens = try await withThrowingTaskGroup(of: MessagingToken.self) { group in
                for _ in 0..<10 { group.addTask { try await client.token() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            try expectEqual(Set(tokens).count, 1, "the number of different tokens")
        },
        MessagingCheck("after a denial nothing registers until the permission is given", needs: .tokens) { context in
            let client = try await context.client()
            _ = try await client.token()
            try await client.requestPermission { .denied }
            try expectEqual(await client.permission, .denied, "the permission")
            do throws(MessagingError) {
                _ = try await client.token()
                throw MessagingError(.unknown, "The device was registered although the user has denied it.")
            } catch {
                guard error.code == .permissionDenied else { throw error }
            }
            try await client.requestPermission { .granted }
            try expect(try await !client.token().value.isEmpty, "there is a token again", found: "an empty one")
        },
    ].within("tokens")

    static let messageChecks: [MessagingCheck] = [
        MessagingCheck("what the platform hands over becomes a message, and shows in the stream", needs: .server) {
            context in
            let client = try await context.client()
            let probe = try await context.listen(to: client)
            let sent = context.message("one", data: ["key": "value", "other": "ä\"b"])
            let message = try expectValue(
                try await client.receive(context.harness.payload(sent)), "a message in the payload")
            try expectEqual(message.title, sent.title, "the title")
            try expectEqual(message.body, sent.body, "the text")
            try expectEqual(message.data, sent.data, "the app's own part")
            try expectEqual(message.wasOpened, false, "whether it was opened")
            try await probe.first("the message") { $0.id == message.id }
        },
        MessagingCheck("a message that was opened says so", needs: .server) { context in
            let client = try await context.client()
            let payload = try context.harness.payload(context.message("one"))
            let message = try await client.receive(RemotePayload(json: payload.json, wasOpened: true))
            try expectEqual(message?.wasOpened, true, "whether it was opened")
        },
        MessagingCheck("a message that is handed over twice shows once", needs: .server) { context in
            let client = try await context.client()
            let probe = try await context.listen(to: client)
            let payload = try context.harness.payload(context.message("one"))
            let first = try await client.receive(payload)
            _ = try await client.receive(payload)
            let last = try await client.receive(context.harness.payload(context.message("two")))
            try await probe.first("the second message") { $0.id == last?.id }
            try expectEqual(probe.elements.count { $0.id == first?.id }, 1, "how often the first one shows")
        },
        MessagingCheck("what is not the provider's is left to others", needs: .server) { context in
            let client = try await context.client()
            let probe = try await context.listen(to: client)
            let foreign = RemotePayload(json: Data(#"{"somebody": {"else": [1, 2, 3]}}"#.utf8))
            try expect(try await client.receive(foreign) == nil, "it is no message", found: "one")
            let own = try await client.receive(context.harness.payload(context.message("own")))
            try await probe.first("the provider's own message") { $0.id == own?.id }
            try expectEqual(probe.elements.count, 1, "the number of messages")
        },
        MessagingCheck("what is no JSON does no harm") { context in
            let client = try await context.client()
            for text in ["", "{", "null", "[]", "\"text\"", "{\"aps\": 5}", "\u{0}"] {
                do throws(MessagingError) {
                    let message = try await client.receive(RemotePayload(json: Data(text.utf8)))
                    if message != nil { throw MessagingError(.unknown, "It was taken for a message.") }
                } catch {
                    guard error.code == .invalidArgument else { throw error }
                }
            }
        },
        MessagingCheck("a hundred messages come in their order, also to one who is slow", needs: .server) { context in
            let client = try await context.client()
            let gate = Gate(isOpen: true)
            let slow = context.watch(
                await client.messageStream().begun().map { message in
                    await gate.wait()
                    return message
                })
            gate.close()
            defer { gate.open() }
            var sent: [String] = []
            for index in 0..<100 {
                let message = try await client.receive(context.harness.payload(context.message("m\(index)")))
                sent.append(try expectValue(message, "a message").id)
            }
            gate.open()
            let last = sent.last
            try await slow.first("the last message") { $0.id == last }
            try expectEqual(slow.elements.map(\.id), sent, "the messages in the order in which they came")
        },
        MessagingCheck("a message sent to a token arrives", needs: .liveMessages) { context in
            let client = try await context.client()
            let probe = try await context.listen(to: client)
            let token = try await client.token()
            let sent = context.message("live", data: ["n": "1"])
            try await context.harness.send(sent, to: token)
            let message = try await probe.first("the message") { $0.data["n"] == "1" }
            try expectEqual(message.title, sent.title, "the title")
            try expectEqual(message.body, sent.body, "the text")
        },
        MessagingCheck("messages sent to a token arrive all, each once", needs: .liveMessages) { context in
            let client = try await context.client()
            let probe = try await context.listen(to: client)
            let token = try await client.token()
            for index in 0..<20 {
                try await context.harness.send(context.message("m\(index)", data: ["n": "\(index)"]), to: token)
            }
            try await probe.first("the last of them") { $0.data["n"] == "19" }
            try expectEqual(
                probe.elements.compactMap { $0.data["n"] }, (0..<20).map { "\($0)" },
                "the messages in their order")
        },
        MessagingCheck("a message for one installation does not reach another", needs: .liveMessages) { context in
            let (one, two) = (try await context.client(), try await context.client())
            let probes = [try await context.listen(to: one), try await context.listen(to: two)]
            let tokens = [try await one.token(), try await two.token()]
            try await context.harness.send(context.message("a", data: ["for": "one"]), to: tokens[0])
            try await context.harness.send(context.message("b", data: ["for": "two"]), to: tokens[1])
            try await probes[0].first("its message") { $0.data["for"] == "one" }
            try await probes[1].first("its message") { $0.data["for"] == "two" }
            for probe in probes { try expectEqual(probe.elements.count, 1, "the number of messages") }
        },
    ].within("messages")

    static let topicChecks: [MessagingCheck] = [
        MessagingCheck("who has subscribed gets what is sent to the topic", needs: .topics, .liveMessages) { context in
            let (one, two) = (try await context.client(), try await context.client())
            let topic = try context.topic()
            for client in [one, two] { _ = try await client.token() }
            let probes = [try await context.listen(to: one), try await context.listen(to: two)]
            for client in [one, two] { try await client.subscribe(to: topic) }
            try await context.harness.send(context.message("all", data: ["n": "1"]), to: topic)
            for probe in probes { try await probe.first("the message") { $0.data["n"] == "1" } }
        },
        MessagingCheck("who has left a topic gets no more of it", needs: .topics, .liveMessages) { context in
            let client = try await context.client()
            let topic = try context.topic()
            let token = try await client.token()
            let probe = try await context.listen(to: client)
            try await client.subscribe(to: topic)
            try await context.harness.send(context.message("in", data: ["n": "1"]), to: topic)
            try await probe.first("the message") { $0.data["n"] == "1" }
            try await client.unsubscribe(from: topic)
            try await context.harness.send(context.message("out", data: ["n": "2"]), to: topic)
            try await context.harness.send(context.message("fence", data: ["n": "3"]), to: token)
            try await probe.first("the message sent to the token") { $0.data["n"] == "3" }
            try expect(
                !probe.elements.contains { $0.data["n"] == "2" }, "the topic's message did not come",
                found: "it came")
        },
        MessagingCheck("subscribing twice brings each message once", needs: .topics, .liveMessages) { context in
            let client = try await context.client()
            let topic = try context.topic()
            _ = try await client.token()
            let probe = try await context.listen(to: client)
            for _ in 0..<2 { try await client.subscribe(to: topic) }
            for index in 0..<3 {
                try await context.harness.send(context.message("m\(index)", data: ["n": "\(index)"]), to: topic)
            }
            try await probe.first("the last message") { $0.data["n"] == "2" }
            try expectEqual(probe.elements.compactMap { $0.data["n"] }, ["0", "1", "2"], "the messages")
        },
        MessagingCheck("leaving a topic that one is not in is no error", needs: .topics) { context in
            let client = try await context.client()
            _ = try await client.token()
            try await client.unsubscribe(from: context.topic())
        },
        MessagingCheck("topics are refused where they are not declared", needs: .no(.topics)) { context in
            let client = try await context.client()
            try await expectRefusal(
                .unsupported, as: MessagingError.self, of: "Messaging", by: client.provider, "subscribing"
            ) { try await client.subscribe(to: context.topic()) }
        },
        MessagingCheck("what is no topic is refused") { context in
            for text in ["", "with space", "ümlaut", "a/b", String(repeating: "x", count: 901)] {
                try await context.expectFailure(.invalidArgument, in: "a topic like this") {
                    try MessagingTopic(validating: text)
                }
            }
        },
    ].within("topics")

    static let careChecks: [MessagingCheck] = [
        MessagingCheck("the client has the capabilities that the harness declares") { context in
            let client = try await context.client()
            try expectEqual(client.capabilities, context.features.capabilities, "the client's capabilities")
        },
        MessagingCheck("no text gives away a token or a message", needs: .server) { context in
            let client = try await context.client()
            let token = try await client.token()
            let payload = try context.harness.payload(context.message("one", data: ["key": "s3cret"]))
            let message = try expectValue(try await client.receive(payload), "a message")
            for text in ["\(token)", String(reflecting: token), "\(message)"] {
                try expect(
                    !text.includes(token.value.reveal()) && !text.includes("s3cret"), "nothing shows",
                    found: "something")
            }
        },
        MessagingCheck("the end of a client ends its streams", needs: .server) { context in
            let client = try await context.client()
            let tokens = context.watch(client.tokenStream())
            let messages = try await context.listen(to: client)
            try await tokens.first("a first element")
            await client.shutDown()
            await client.shutDown()
            for failure in [try await tokens.end(), try await messages.end()] {
                let code = (failure as? MessagingError)?.code
                try expect(
                    failure == nil || code == .shutDown, "the stream ends with the client",
                    found: Readable.text(failure))
            }
        },
        MessagingCheck("a client can be found in itself") { context in
            func find<Client: MessagingClient>(_ client: Client) -> Bool { client.unwrapped(as: Client.self) != nil }
            try expect(find(try await context.client()), "the client unwraps to its own type", found: "nothing")
        },
    ].within("care")
}

import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardConformance
import SwitchyardLocalFirebase
import SwitchyardServerKit
import Testing

@testable import SwitchyardFirebase

@Suite struct FirebaseMessagingConformanceTests {
    static let tally = ConformanceTally(
        "firebase messaging", MessagingConformance.all, for: LocalMessagingHarness.features)

    @Test(arguments: MessagingConformance.checks(for: LocalMessagingHarness.features))
    func `Firebase's messaging`(_ check: MessagingCheck) async throws {
        let harness = try LocalMessagingHarness()
        do {
            try await Self.tally.run(check, on: harness)
        } catch {
            await harness.firebase.stop()
            throw error
        }
        await harness.firebase.stop()
    }

    @Test func `What Firebase is spared`() {
        #expect(
            MessagingConformance.leftOut(for: LocalMessagingHarness.features) == [
                "a message sent to a token arrives", "messages sent to a token arrive all, each once",
                "a message for one installation does not reach another",
                "who has subscribed gets what is sent to the topic", "who has left a topic gets no more of it",
                "subscribing twice brings each message once",
            ])
    }

    @Test func `What a server sends is what the device's app reads`() async throws {
        let harness = try LocalMessagingHarness()
        let client = try await harness.makeMessagingClient()
        try await client.setPlatformToken(harness.platformToken())
        let token = try await client.token()
        try await client.subscribe(to: "news")
        let sender = try harness.sender()
        try await sender.send(
            FirebaseMessage(to: .device(token), title: "Hi", body: "Grüße 😀", data: ["orderId": "42"]))
        try await sender.send(FirebaseMessage(to: .topic("news"), title: "News"))
        try await client.unsubscribe(from: "news")
        try await sender.send(FirebaseMessage(to: .topic("news"), title: "Unsent news"))

        let payloads = harness.firebase.messaging.deliveries(to: token.value.reveal())
        var messages: [RemoteMessage] = []
        for payload in payloads {
            if let message = try await client.receive(RemotePayload(json: Data(payload.bytes()))) {
                messages.append(message)
            }
        }
        #expect(messages.map(\.title) == ["Hi", "News"])
        #expect(messages.first?.body == "Grüße 😀" && messages.first?.data == ["orderId": "42"])
        #expect(messages.last?.topic == "news")

        try await client.deleteToken()
        await #expect(throws: MessagingError.self) {
            try await sender.send(FirebaseMessage(to: .device(token), title: "Too late"))
        }
        await client.shutDown()
        await sender.shutDown()
        await harness.firebase.stop()
    }
}

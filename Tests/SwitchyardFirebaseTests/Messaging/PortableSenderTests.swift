import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// Messages that are sent as any provider's, in the project's name.
@Suite struct PortableSenderTests {
    private static let url = "https://fcm.googleapis.com/v1/projects/demo/messages:send"

    private static func sender(
        _ credential: FirebaseCredential?, _ transport: ScriptedTransport
    ) async throws -> any MessageSender {
        let configuration = FirebaseConfiguration(
            project: "demo", credential: credential, usesEmulatorVariables: false)
        let module = FirebaseModule(configuration, environment: [:]) { transport }
        return try await module.makeServerClientFactory(ModuleContext()).makeMessageSender()
    }

    @Test func `Conditions are written as the service reads them, and the credential asks`() async throws {
        let conditions: [(MessagingCondition, String)] = [
            (.topic("a"), "'a' in topics"),
            (.topic("a") && (.topic("b") || .topic("c")), "('a' in topics && ('b' in topics || 'c' in topics))"),
            (!(.topic("a") && .topic("b")) || .topic("c"), "(!(('a' in topics && 'b' in topics)) || 'c' in topics)"),
        ]
        let transport = ScriptedTransport(
            conditions.map { _ in .on(.post, Self.url, .json(#"{"name":"projects/demo/messages/1"}"#)) })
        let sender = try await Self.sender(
            .tokens { _ in .init("project", expiresAt: .distantFuture) }, transport)
        for (condition, _) in conditions {
            let name = try await sender.send(OutgoingMessage(to: .condition(condition), title: "Hi", data: ["k": "v"]))
            #expect(name == "projects/demo/messages/1")
        }
        let sent = transport.requests.compactMap { try? JSON(parsing: $0.body)["message"] }
        #expect(sent.map { $0["condition"]?.string } == conditions.map(\.1))
        #expect(sent.allSatisfy { $0["notification"]?["title"] == "Hi" && $0["data"] == ["k": "v"] })
        #expect(transport.requests.allSatisfy { $0.request.headers["Authorization"] == "Bearer project" })
        try transport.verify()
    }

    @Test func `Without a credential there is no sender, and the error says what to set`() async throws {
        let error = await #expect(throws: InfrastructureError.self) {
            _ = try await Self.sender(nil, ScriptedTransport())
        }
        #expect(error?.code == .invalidConfiguration && error?.message.contains("credential") == true)
    }

    @Test func `A local Firebase delivers to a device, a topic and a condition, and reports who is gone`() async throws
    {
        let harness = try LocalMessagingHarness()
        var configuration = harness.configuration
        configuration.credential = .tokens { _ in .init("ya29.test", expiresAt: .distantFuture) }
        let module = FirebaseModule(configuration, environment: [:]) { CurlTransport() }
        let factory = try await module.makeServerClientFactory(ModuleContext())
        let sender = try factory.makeMessageSender()

        let client = try await harness.makeMessagingClient()
        try await client.setPlatformToken(harness.platformToken())
        let token = try await client.token()
        for topic: MessagingTopic in ["news", "sport"] { try await client.subscribe(to: topic) }
        let outcomes = await sender.send([
            OutgoingMessage(to: .device(token), title: "One", data: ["order": "42"]),
            OutgoingMessage(to: .topic("news"), title: "Two"),
            OutgoingMessage(to: .condition(.topic("news") && !.topic("weather")), title: "Three"),
            OutgoingMessage(to: .condition(.topic("weather") || !.topic("news")), title: "Four"),
            OutgoingMessage(to: .device(MessagingToken("gone")), title: "Five"),
        ])
        let isSent = outcomes.map { if case .success = $0 { true } else { false } }
        #expect(isSent == [true, true, true, true, false])
        // Several are under way at a time, so the order may be any.
        let titles = harness.firebase.messaging.deliveries(to: token.value.reveal())
            .compactMap { $0["aps"]?["alert"]?["title"]?.string }
        #expect(titles.sorted() == ["One", "Three", "Two"])

        try await client.deleteToken()
        let gone = await #expect(throws: MessagingError.self) {
            try await sender.send(OutgoingMessage(to: .device(token), title: "Too late"))
        }
        #expect(gone?.code == .unregistered)
        await client.shutDown()
        await factory.shutDown()
        await harness.firebase.stop()
    }
}

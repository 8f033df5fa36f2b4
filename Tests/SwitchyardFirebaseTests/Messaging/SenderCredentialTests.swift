import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardFirebase

/// Sending with the credential of the configuration.
@Suite struct SenderCredentialTests {
    private static let url = "https://fcm.googleapis.com/v1/projects/demo/messages:send"
    private static let tokenURL = "https://oauth2.googleapis.com/token"
    private static let sent = ScriptedReply.json(#"{"name":"projects/demo/messages/0:1"}"#)
    private static let refusal = ScriptedReply.json(#"{"error":{"code":401,"status":"UNAUTHENTICATED"}}"#, status: 401)
    private static let hello = FirebaseMessage(to: .topic("news"), title: "Hello")

    private static func sender(
        _ credential: FirebaseCredential?, _ transport: ScriptedTransport
    ) throws -> FirebaseMessageSender {
        try FirebaseMessageSender(
            FirebaseConfiguration(project: "demo", credential: credential), environment: [:], transport: transport)
    }

    /// Gives out one token until that is refused, then another one, and notes how often it was asked.
    private final class Source: Sendable {
        let asked = Mutex<[Bool]>([])

        var credential: FirebaseCredential {
            .tokens { [self] isRefused in
                asked.withLock { $0.append(isRefused) }
                return .init(isRefused ? "second" : "first", expiresAt: .distantFuture)
            }
        }
    }

    private static func failure(_ sender: FirebaseMessageSender) async -> MessagingError? {
        await #expect(throws: MessagingError.self) { try await sender.send(hello) }
    }

    @Test func `A token is cached, and replaced once when it is refused`() async throws {
        let source = Source()
        let replies = [Self.sent, Self.sent, Self.refusal, Self.sent, Self.refusal, Self.refusal]
        let transport = ScriptedTransport(replies.map { ScriptedExchange.on(.post, Self.url, $0) })
        let sender = try Self.sender(source.credential, transport)
        for _ in 0..<3 { #expect(try await sender.send(Self.hello) == "projects/demo/messages/0:1") }
        #expect(source.asked.withLock { $0 } == [false, true])
        let bearers = transport.requests.map { $0.request.headers["Authorization"] ?? "none" }
        #expect(bearers == ["Bearer first", "Bearer first", "Bearer first", "Bearer second"])
        #expect(await Self.failure(sender)?.code == .unauthenticated)
        try transport.verify()
    }

    @Test func `A refusal without words is one of the token, and that of a push service is not`() async throws {
        let source = Source()
        let pushKey = ScriptedReply.json(
            #"{"error":{"status":"UNAUTHENTICATED","details":[{"errorCode":"THIRD_PARTY_AUTH_ERROR"}]}}"#, status: 401)
        let replies = [ScriptedReply.text("", status: 401), Self.sent, pushKey]
        let transport = ScriptedTransport(replies.map { ScriptedExchange.on(.post, Self.url, $0) })
        let sender = try Self.sender(source.credential, transport)
        try await sender.send(Self.hello)
        #expect(await Self.failure(sender)?.code.rawValue == "THIRD_PARTY_AUTH_ERROR")
        #expect(source.asked.withLock { $0 } == [false, true])
        try transport.verify()
    }

    /// One message is refused and sent again before the other one, which went out with the same token, is refused.
    @Test func `Messages that were refused with one token share the next one`() async throws {
        let source = Source()
        let (isSent, isReplaced) = (Gate(), Gate())
        func exchange(
            _ topic: String, _ token: String, _ reply: @escaping @Sendable () -> ScriptedReply
        ) -> ScriptedExchange {
            .on(
                .post, Self.url,
                check: { recorded in
                    let message = (try? JSON(parsing: recorded.body))?["message"]
                    let isIt =
                        message?["topic"]?.string == topic
                        && recorded.request.headers["Authorization"] == "Bearer \(token)"
                    return isIt ? nil : "it is another one"
                }, reply: { _ in reply() })
        }
        let transport = ScriptedTransport(
            order: .any,
            [
                exchange("quick", "first") { Self.refusal.delayed(until: isSent) },
                exchange("slow", "first") {
                    isSent.open()
                    return Self.refusal.delayed(until: isReplaced)
                },
                exchange("quick", "second") {
                    isReplaced.open()
                    return Self.sent
                },
                exchange("slow", "second") { Self.sent },
            ])
        let sender = try Self.sender(source.credential, transport)
        let results = await sender.send([
            FirebaseMessage(to: .topic("quick"), title: "x"), FirebaseMessage(to: .topic("slow"), title: "x"),
        ])
        #expect(results.allSatisfy { (try? $0.get()) != nil }, "\(results)")
        #expect(source.asked.withLock { $0 } == [false, true], "the second refusal is of a token that was replaced")
        try transport.verify()
    }

    @Test func `A person's credential names the project with each call`() async throws {
        let file: JSON = [
            "type": "authorized_user", "client_id": "i", "client_secret": "s", "refresh_token": "r",
        ]
        let transport = ScriptedTransport([
            .on(.post, Self.tokenURL, .json(#"{"access_token":"t","expires_in":3599}"#)),
            .on(.post, Self.url, Self.sent),
        ])
        try await Self.sender(.keyFile(text: Secret(file.text())), transport).send(Self.hello)
        let headers = try #require(transport.requests.last?.request.headers)
        #expect(headers["Authorization"] == "Bearer t" && headers["x-goog-user-project"] == "demo")
        try transport.verify()
    }

    @Test func `Why there is no token is said, and whether it may pass`() async throws {
        let file: JSON = [
            "type": "authorized_user", "client_id": "i", "client_secret": "s", "refresh_token": "r",
        ]
        let transport = ScriptedTransport([
            .on(.post, Self.tokenURL, .text("", status: 503)),
            .on(.post, Self.tokenURL, .json(#"{"error":"invalid_grant"}"#, status: 400)),
        ])
        let sender = try Self.sender(.keyFile(text: Secret(file.text())), transport)
        let silent = await Self.failure(sender)
        #expect(silent?.code == .unavailable && silent?.isRetryable == true, "\(silent as Any)")
        let refused = await Self.failure(sender)
        #expect(refused?.code == .unauthenticated && refused?.isRetryable == false)
        #expect(refused?.message.contains("does not accept Firebase's credential (invalid_grant)") == true)
        try transport.verify()
    }

    @Test func `Without a credential there is no sender, and the error says what to set`() {
        let error = #expect(throws: InfrastructureError.self) { try Self.sender(nil, ScriptedTransport()) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("Set credential in Firebase's configuration") == true)
    }

    @Test func `The project of a credential alone is found in the environment`() async throws {
        let transport = ScriptedTransport([.on(.post, Self.url, Self.sent)])
        let configuration = FirebaseConfiguration(credential: Source().credential)
        let sender = try FirebaseMessageSender(
            configuration, environment: ["GOOGLE_CLOUD_PROJECT": "demo"], transport: transport)
        try await sender.send(Self.hello)
        let error = #expect(throws: InfrastructureError.self) {
            try FirebaseMessageSender(configuration, transport: transport, token: { _ in "token" })
        }
        #expect(error?.code == .invalidConfiguration)
    }
}

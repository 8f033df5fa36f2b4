import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardConformance
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestRuns
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// Installations of one person's app on a local Supabase, with the functions of this module in its database.
final class LocalMessagingSite: MessagingHarness {
    static let features: MessagingFeatures = {
        var capabilities = MessagingCapabilities()
        capabilities.liveMessages = true
        capabilities.topics = true
        return MessagingFeatures(capabilities)
    }()

    /// Its processes end with this one.
    static let shared = Task { try await LocalMessagingSite() }

    let supabase: LocalSupabase
    private let sender: SupabaseMessageSender

    var features: MessagingFeatures { Self.features }

    init() async throws {
        supabase = try await LocalSupabase.onSharedPostgres()
        let connection = try await supabase.database.connect()
        defer { connection.close() }
        // Behind the service's own tables, so that its policies on channels are there.
        try await connection.run(script: DocumentSchema.sql)
        sender = try SupabaseMessageSender(
            SupabaseConfiguration(
                url: supabase.server.url, key: Secret(supabase.anonKey), serviceKey: Secret(supabase.serviceKey)),
            transport: CurlTransport())
    }

    func client(user: String) throws -> SupabaseMessagingAdapter {
        let supabase = supabase
        let auth = FixedAuthClient(provider: .supabase, user: AuthUser.ID(user)) { _ in
            supabase.accessToken(for: user)
        }
        let module = SupabaseModule(
            SupabaseConfiguration(url: supabase.server.url, key: Secret(supabase.anonKey))
        ) { CurlTransport() }
        return try SupabaseMessagingAdapter(module.clientContext(ModuleContext(auth: auth)))
    }

    func makeMessagingClient() async throws -> any MessagingClient { try client(user: "alice") }

    func payload(_ message: RemoteMessage) throws -> RemotePayload { Self.payload(message) }

    static func payload(_ message: RemoteMessage) -> RemotePayload {
        var own: JSONObject = ["id": .string(message.id)]
        own["title"] = message.title.map(JSON.string)
        own["body"] = message.body.map(JSON.string)
        own["topic"] = (message.topic?.rawValue).map(JSON.string)
        own["data"] = .object(JSONObject(message.data.map { (key: $0.key, value: .string($0.value)) }))
        return RemotePayload(
            json: Data(JSON.object(["aps": [:], "switchyard": .object(own)]).bytes()), wasOpened: message.wasOpened)
    }

    func send(_ message: RemoteMessage, to token: MessagingToken) async throws {
        try await sender.send(title: message.title, body: message.body, data: message.data, to: .device(token))
    }

    func send(_ message: RemoteMessage, to topic: MessagingTopic) async throws {
        try await sender.send(title: message.title, body: message.body, data: message.data, to: .topic(topic))
    }
}

@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SupabaseMessagingConformanceTests {
    static let run = ConformanceRun(
        "supabase messaging", MessagingConformance.all, for: LocalMessagingSite.features, width: 1
    ) {
        try await LocalMessagingSite.shared.value
    }

    @Test(.beside(run), arguments: run.checks)
    func `Supabase's messaging`(_ check: MessagingCheck) async throws {
        try await Self.run.outcome(of: check)
    }

    @Test func `What Supabase is spared`() {
        #expect(
            MessagingConformance.leftOut(for: LocalMessagingSite.features) == [
                "without the platform's token there is none"
            ])
    }

    @Test func `What the database sends as part of a transaction arrives`() async throws {
        let site = try await LocalMessagingSite.shared.value
        let client = try site.client(user: "alice")
        let token = try await client.token()
        let messages = await client.messageStream().begun()
        _ = try await site.supabase.database.run([
            PostgresStatement(
                "select switchyard.send_message('installation:' || $1, '{\"title\": \"Hi\"}')", [token.value.reveal()])
        ])
        for try await message in messages {
            #expect(message.title == "Hi" && message.sentAt != nil)
            break
        }
        await client.shutDown()
    }

    @Test func `What is sent as any provider's arrives, and a condition is refused before it is sent`() async throws {
        let site = try await LocalMessagingSite.shared.value
        let client = try site.client(user: "alice")
        let token = try await client.token()
        let topic = try MessagingTopic(validating: "portable-\(RandomID.make())")
        try await client.subscribe(to: topic)
        let messages = await client.messageStream().begun()
        let module = SupabaseModule(
            SupabaseConfiguration(
                url: site.supabase.server.url, key: Secret(site.supabase.anonKey),
                serviceKey: Secret(site.supabase.serviceKey))
        ) { CurlTransport() }
        let factory = try await module.makeServerClientFactory(ModuleContext())
        let sender = try factory.makeMessageSender()
        let outcomes = await sender.send([
            OutgoingMessage(to: .device(token), title: "One", data: ["order": "42"]),
            OutgoingMessage(to: .condition(.topic(topic) || .topic("other")), title: "Two"),
            OutgoingMessage(to: .topic(topic), title: "Three"),
        ])
        var (names, codes) = ([String](), [ErrorCode]())
        for outcome in outcomes {
            switch outcome {
            case .success(let name): names.append(name)
            case .failure(let error): codes.append(error.code)
            }
        }
        #expect(names.count == 2 && codes == [.unsupported])
        var arrived: [RemoteMessage] = []
        for try await message in messages {
            arrived.append(message)
            if arrived.count == 2 { break }
        }
        #expect(Set(arrived.map(\.title)) == ["One", "Three"] && Set(arrived.map(\.id)) == Set(names))
        #expect(arrived.first { $0.title == "One" }?.data == ["order": "42"])
        await factory.shutDown()
        await client.shutDown()
    }

    @Test func `Another person's installation cannot be listened to`() async throws {
        let site = try await LocalMessagingSite.shared.value
        let alice = try site.client(user: "alice")
        let token = try await alice.token()
        let supabase = site.supabase
        let transport = CurlTransport()
        let bob = FixedAuthClient(user: "bob") { _ in supabase.accessToken(for: "bob") }
        let socket = RealtimeSocket(
            supabase.server.url("/realtime/v1"),
            tokens: SupabaseTokens(key: Secret(supabase.anonKey), auth: bob), transport: transport)
        let channel = try socket.join(
            MessageChannel.installation(token.value.reveal()).name, RealtimeConfiguration(isPrivate: true))
        let failure = await #expect(throws: RealtimeFailure.self) {
            () async throws -> Void in while try await channel.next() != nil {}
        }
        #expect(failure?.kind == .unauthorized)
        socket.close()
        await transport.shutDown()
        await alice.shutDown()
    }
}

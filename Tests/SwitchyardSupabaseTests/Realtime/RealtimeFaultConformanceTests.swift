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

/// A project whose realtime service has the faults that the real one was seen to have: it loses its database after every
/// third event and reports nothing, and each join that is refused holds its whole connection up.
final class FaultyRealtimeSite: Sendable {
    let supabase: LocalSupabase
    /// Joined in vain by every client.
    private let forbidden = Mutex<[RealtimeChannel]>([])

    init(eventsToSilence: Int? = 3, refusalPause: Duration = .milliseconds(200)) async throws {
        supabase = try await LocalSupabase.onSharedPostgres()
        let connection = try await supabase.database.connect()
        // Behind the service's own tables, so that its policies on channels are there.
        try await connection.run(script: DocumentSchema.sql)
        connection.close()
        supabase.realtimeFaults.fallSilent(afterEvents: eventsToSilence)
        supabase.realtimeFaults.refusalPause = refusalPause
    }

    static let shared = Task { try await FaultyRealtimeSite() }

    /// - Parameter heartbeat: One that comes often leaves less to wait for.
    func clientContext(
        _ user: String, heartbeat: Duration = .seconds(1), observer: any InfrastructureObserver = SilentObserver()
    ) throws -> SupabaseContext {
        let supabase = supabase
        let auth = FixedAuthClient(provider: .supabase, user: AuthUser.ID(user)) { _ in
            supabase.accessToken(for: user)
        }
        var configuration = SupabaseConfiguration(url: supabase.server.url, key: Secret(supabase.anonKey))
        configuration.realtime = SupabaseRealtime(heartbeat: heartbeat)
        configuration.checkInterval = .milliseconds(100)
        return try SupabaseModule(configuration) { CurlTransport() }
            .clientContext(ModuleContext(auth: auth, observer: observer))
    }

    func storage(_ user: String) async throws -> SupabaseStorageAdapter {
        let context = try clientContext(user)
        // The same connection, in the name of a client that is not there.
        let share = context.session.realtime(for: .messages)
        let client = try await SupabaseStorageAdapter(context)
        try joinForbidden(1, on: share.socket)
        await share.release()
        return client
    }

    func messaging(_ user: String) throws -> SupabaseMessagingAdapter {
        let client = try SupabaseMessagingAdapter(clientContext(user))
        try joinForbidden(1, on: client.realtime.socket)
        return client
    }

    @discardableResult
    func joinForbidden(_ count: Int, on socket: RealtimeSocket) throws -> [RealtimeChannel] {
        let channels = try (0..<count).map { number in
            try socket.join("forbidden:\(number)", RealtimeConfiguration(isPrivate: true))
        }
        forbidden.withLock { $0 += channels }
        return channels
    }

    func sender() throws -> SupabaseMessageSender {
        try SupabaseMessageSender(
            SupabaseConfiguration(
                url: supabase.server.url, key: Secret(supabase.anonKey), serviceKey: Secret(supabase.serviceKey)),
            transport: CurlTransport())
    }
}

@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RealtimeFaultConformanceTests {
    private struct Documents: StorageHarness {
        let site: FaultyRealtimeSite
        var features: StorageFeatures { SupabaseHarness.features }

        func makeStorageClient() async throws -> any StorageClient { try await site.storage("tester") }
    }

    private static let documents = ConformanceRun(
        "supabase documents with a faulty realtime service", StorageConformance.all, for: SupabaseHarness.features,
        part: 8
    ) {
        Documents(site: try await FaultyRealtimeSite.shared.value)
    }

    @Test(.beside(documents), arguments: documents.checks)
    func `Documents on a realtime service that falls silent and is slow to refuse`(_ check: StorageCheck) async throws {
        try await Self.documents.outcome(of: check)
    }

    private struct Messages: MessagingHarness {
        let site: FaultyRealtimeSite
        private let sender: SupabaseMessageSender

        init(_ site: FaultyRealtimeSite) throws {
            self.site = site
            sender = try site.sender()
        }

        var features: MessagingFeatures { LocalMessagingSite.features }
        func makeMessagingClient() async throws -> any MessagingClient { try site.messaging("alice") }
        func payload(_ message: RemoteMessage) throws -> RemotePayload { LocalMessagingSite.payload(message) }
        func send(_ message: RemoteMessage, to token: MessagingToken) async throws {
            try await sender.send(title: message.title, body: message.body, data: message.data, to: .device(token))
        }
        func send(_ message: RemoteMessage, to topic: MessagingTopic) async throws {
            try await sender.send(title: message.title, body: message.body, data: message.data, to: .topic(topic))
        }
    }

    private static let messages = ConformanceRun(
        "supabase messaging with a faulty realtime service", MessagingConformance.all,
        for: LocalMessagingSite.features, part: 2, width: 1
    ) {
        try Messages(await FaultyRealtimeSite.shared.value)
    }

    @Test(.beside(messages), arguments: messages.checks)
    func `Messages over a realtime service that falls silent and is slow to refuse`(
        _ check: MessagingCheck
    ) async throws {
        try await Self.messages.outcome(of: check)
    }

    // MARK: What the faults cost

    /// What a client has reported to its observer of live queries that had to be repaired.
    private final class Repairs: InfrastructureObserver {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock { $0 } }

        func observe(_ event: InfrastructureEvent) {
            guard case .reconnect(_, _, let failure?) = event.kind else { return }
            texts.withLock { $0.append(failure.message) }
        }
    }

    @Test(.beside(unannouncedRun), .timeLimit(.minutes(2)))
    func `A change that no one announced has the channels joined again, and the observer is notified`() async throws {
        try await Self.unannouncedRun.value
    }

    private static let unannouncedRun: SideRun<Int, Void> = SideRun {
        try await RealtimeFaultConformanceTests().unannounced()
    }

    private func unannounced() async throws {
        let site = try await FaultyRealtimeSite(refusalPause: .zero)
        let repairs = Repairs()
        // Heartbeats would wake the service as well, but later.
        let reader = try await SupabaseStorageAdapter(
            site.clientContext("alice", heartbeat: .seconds(25), observer: repairs))
        let writer = try await SupabaseStorageAdapter(site.clientContext("alice", heartbeat: .seconds(25)))
        var rooms = reader.snapshots(of: "users/alice/rooms/a" as StoragePath).makeAsyncIterator()
        while let snapshot = try await rooms.next(), snapshot.metadata.isFromCache {}
        for number in 1...8 {
            try await writer.setDocument("users/alice/rooms/a", ["n": .of(number)]).acknowledged()
            while let snapshot = try await rooms.next(), snapshot["n"] != .integer(Int64(number)) {}
        }
        try await eventually("the channels are joined again", within: .seconds(20)) {
            repairs.all.contains { $0.contains("joined again") }
        }
        try await eventually("the service is awake", within: .seconds(20)) { !site.supabase.realtimeFaults.isSilent }
        await reader.shutDown()
        await writer.shutDown()
        await site.supabase.stop()
    }

    @Test(.beside(silentRun), .timeLimit(.minutes(3)))
    func `What the database sends while the service is silent arrives in the end, and once`() async throws {
        try await Self.silentRun.value
    }

    private static let silentRun: SideRun<Int, Void> = SideRun { try await RealtimeFaultConformanceTests().silent() }

    private func silent() async throws {
        let site = try await FaultyRealtimeSite(refusalPause: .zero)
        let client = try site.messaging("alice")
        try await client.subscribe(to: "news")
        let messages = await client.messageStream().begun()
        let count = 10
        for number in 1...count {
            _ = try await site.supabase.database.run([
                PostgresStatement(
                    "select switchyard.send_message('topic:news', json_build_object('title', $1::text)::jsonb)",
                    ["\(number)"])
            ])
        }
        let titles = Mutex<[String]>([])
        let listening = Task {
            for try await message in messages { titles.withLock { $0.append(message.title ?? "") } }
        }
        try await eventually("the service is awake", within: .seconds(20)) { !site.supabase.realtimeFaults.isSilent }
        try await eventually("all have come", within: .seconds(60)) {
            // As the channel does by itself every few minutes.
            client.realtime.socket.rejoin()
            return Set(titles.withLock { $0 }).count == count
        }
        #expect(titles.withLock { $0 }.sorted() == (1...count).map(String.init).sorted())
        await client.shutDown()
        listening.cancel()
        await site.supabase.stop()
    }

    /// The heartbeat is one second and all refusals take two: as six refusals of the vendor's service and its heartbeat.
    @Test(.beside(refusedRun), .timeLimit(.minutes(2)))
    func `Channels that are refused, each slowly, cost the others no connection`() async throws {
        try await Self.refusedRun.value
    }

    private static let refusedRun: SideRun<Int, Void> = SideRun { try await RealtimeFaultConformanceTests().refused() }

    private func refused() async throws {
        let site = try await FaultyRealtimeSite(eventsToSilence: nil)
        let client = try SupabaseMessagingAdapter(site.clientContext("alice"))
        try await client.subscribe(to: "news")
        let messages = await client.messageStream().begun()
        let sessions = site.supabase.realtimeSessions
        let forbidden = try site.joinForbidden(10, on: client.realtime.socket)
        for channel in forbidden {
            let failure = await #expect(throws: RealtimeFailure.self) {
                () async throws -> Void in while try await channel.next() != nil {}
            }
            #expect(failure?.kind == .unauthorized)
        }
        #expect(site.supabase.realtimeSessions == sessions && sessions.count == 1)
        try await site.sender().send(title: "Hi", to: .topic("news"))
        for try await message in messages {
            #expect(message.title == "Hi")
            break
        }
        await client.shutDown()
        await site.supabase.stop()
    }
}

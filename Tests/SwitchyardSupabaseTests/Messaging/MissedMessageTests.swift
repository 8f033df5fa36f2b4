import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestRuns
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// Messages of the database while the realtime service loses its own connection to it and reports nothing.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct MissedMessageTests {
    private final class Titles: Sendable {
        private let all = Mutex<[String]>([])
        var value: [String] { all.withLock { $0 } }
        func add(_ title: String) { all.withLock { $0.append(title) } }
    }

    private func send(_ title: String, to target: String = "topic:news", on site: FaultyRealtimeSite) async throws {
        _ = try await site.supabase.database.run([
            PostgresStatement(
                "select switchyard.send_message($1, json_build_object('title', $2::text)::jsonb)", [target, title])
        ])
    }

    private func withListener(
        silencing events: Int? = nil,
        _ body: (FaultyRealtimeSite, SupabaseMessagingAdapter, Titles) async throws -> Void
    ) async throws {
        let site = try await FaultyRealtimeSite(eventsToSilence: events, refusalPause: .zero)
        let client = try SupabaseMessagingAdapter(site.clientContext("alice"))
        try await send("before", on: site)
        try await client.subscribe(to: "news")
        let messages = await client.messageStream().begun()
        let titles = Titles()
        let listening = Task { for try await message in messages { titles.add(message.title ?? "") } }
        try await body(site, client, titles)
        await client.shutDown()
        listening.cancel()
        await site.supabase.stop()
    }

    @Test(.beside(outages), .timeLimit(.minutes(3)))
    func `Of four hundred messages over five outages none is lost, and none comes twice`() async throws {
        try await Self.outages.value
    }

    private static let outages: SideRun<Int, Void> = SideRun { try await MissedMessageTests().countOutages() }

    private func countOutages() async throws {
        try await withListener { site, _, titles in
            let count = 419
            for number in 1...count {
                if number % 80 == 40 { site.supabase.realtimeFaults.loseDatabase(for: .seconds(1)) }
                try await send("\(number)", on: site)
                // An outage is as long as some forty messages: they wait for its end, as a second passes between real ones.
                if number % 80 == 79 {
                    try await eventually("the service has its database again", within: .seconds(10)) {
                        !site.supabase.realtimeFaults.isWithoutDatabase
                    }
                }
            }
            let wanted = (1...count).map(String.init).sorted()
            try await eventually("all have come", within: .seconds(30)) { titles.value.count >= count }
            #expect(titles.value.sorted() == wanted)
        }
    }

    @Test(.beside(busy), .timeLimit(.minutes(2)))
    func `More messages than the service repeats are fetched, page by page, once no one sends any more`() async throws {
        try await Self.busy.value
    }

    private static let busy: SideRun<Int, Void> = SideRun { try await MissedMessageTests().busyChannel() }

    private func busyChannel() async throws {
        try await withListener { site, client, titles in
            let token = try await client.token().value.reveal()
            site.supabase.realtimeFaults.loseDatabase(for: .seconds(600))
            let count = 230
            _ = try await site.supabase.database.run([
                PostgresStatement(
                    """
                    select switchyard.send_message('topic:news', json_build_object('title', 'n' || n)::jsonb)
                    from generate_series(1, \(count)) n
                    """),
                PostgresStatement(
                    "select switchyard.send_message($1, '{\"title\": \"own\"}')", ["installation:\(token)"]),
            ])
            try await eventually("all have come", within: .seconds(30)) { titles.value.count > count }
            #expect(Set(titles.value) == Set((1...count).map { "n\($0)" } + ["own"]))
            #expect(titles.value.count == count + 1)
            #expect(
                titles.value.filter { $0 != "own" } == (1...count).map { "n\($0)" }, "in the order of their numbers")
        }
    }

    @Test func `The messages of a channel are given to those who may receive it, and to no one else`() async throws {
        let site = try await FaultyRealtimeSite(eventsToSilence: nil, refusalPause: .zero)
        let owner = try SupabaseMessagingAdapter(site.clientContext("alice"))
        let token = try await owner.token().value.reveal()
        try await send("secret", to: "installation:\(token)", on: site)
        try await send("open", on: site)
        func ask(_ user: String?) async throws -> [JSON] {
            let key = user.map { site.supabase.accessToken(for: $0) } ?? site.supabase.anonKey
            let transport = CurlTransport()
            let service = PostgRESTService(
                project: try SupabaseProject(site.supabase.server.url),
                tokens: SupabaseTokens(key: Secret(key), auth: nil), transport: transport)
            let wanted: JSON = [
                ["target": .string("installation:\(token)"), "after": 0], ["target": "topic:news", "after": 0],
                ["target": "topic:news", "after": .null], ["target": "documents:rooms", "after": 0], [:],
            ]
            let answer = try await service.call("switchyard_messages", ["wanted": wanted], isIdempotent: true)
            await transport.shutDown()
            return answer.array ?? []
        }
        let own = try await ask("alice")
        #expect(own.map { $0["messages"]?.array?.map { $0["title"]?.string ?? "" } } == [["secret"], ["open"], []])
        #expect(own.map { $0["newest"]?.int64 } == [1, 1, 1] && own.map { $0["through"]?.int64 } == [1, 1, 1])
        let other = try await ask("bob")
        #expect(other.map { $0["messages"]?.array?.map { $0["title"]?.string ?? "" } } == [["open"], []])
        let signedOut = await #expect(throws: StorageError.self) { _ = try await ask(nil) }
        #expect(signedOut?.code == .unauthenticated)
        await owner.shutDown()
        await site.supabase.stop()
    }
}

import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestRuns
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

extension LyingTransport.Service {
    /// Supabase's services, told apart by the function that is called, or by the first part of the path.
    fileprivate static let supabase = LyingTransport.Service(errors: [
        #"{"code":"PGRST301","message":"JWT expired"}"#, #"{"code":"PGRST202","message":"no function","hint":null}"#,
        #"{"code":"57014","message":"canceling statement"}"#, #"{"code":"40001","message":"x","details":{}}"#,
        #"{"code":"42501","message":"permission denied"}"#, #"{"code":23505}"#, #"{"message":"no Route matched"}"#,
        #"{"error":"x","msg":[]}"#, #"{"code":"P0001","message":"switchyard: :"}"#,
    ]) { request in
        let parts = request.url.split(separator: "?")[0].split(separator: "/")
        return (parts.firstIndex(of: "rpc").map { parts[$0 + 1] } ?? parts[2]).description
    }
}

/// Documents and messages from a project whose every answer may be damaged, late, another call's or missing, and so may
/// every message over its socket.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SupabaseLieTests {
    private static func run(_ seed: UInt64) -> LyingRun {
        // A real database answers behind it, so a minute takes a little longer.
        LyingRun(seed, .supabase, speed: 50) { Issue.record(Comment(rawValue: $0)) }
    }

    private static func context(_ run: LyingRun, _ supabase: LocalSupabase) -> ModuleContext {
        let auth = FixedAuthClient(provider: .supabase, user: "alice") { _ in
            supabase.accessToken(for: "alice")
        }
        return ModuleContext(auth: auth, clock: run.clock)
    }

    private static func site() async throws -> LocalSupabase {
        let supabase = try await LocalSupabase.onSharedPostgres()
        let connection = try await supabase.database.connect()
        defer { connection.close() }
        // Behind the service's own tables, so that its policies on channels are there.
        try await connection.run(script: DocumentSchema.sql)
        return supabase
    }

    @Test(.beside(documentsRun))
    func `Lies about documents are errors, and an honest server is understood again`() async throws {
        try await Self.documentsRun.value
    }

    private static let documentsRun: SideRun<Int, Void> = SideRun { try await SupabaseLieTests().documents() }

    private func documents() async throws {
        let supabase = try await Self.site()
        var endpoints: Set<String> = []
        var lies: Set<LyingTransport.Lie> = []
        for transport in try await sideBySide(LyingRun.seeds(12), width: 2, { try await documents($0, supabase) }) {
            endpoints.formUnion(transport.endpoints)
            lies.formUnion(transport.lies)
        }
        await supabase.stop()
        guard !LyingRun.isPart else { return }
        #expect(lies.count == LyingTransport.Lie.allCases.count)
        #expect(
            endpoints.isSuperset(of: [
                "switchyard_get", "switchyard_query", "switchyard_aggregate", "switchyard_commit",
                "switchyard_collections", "socket",
            ]), "\(endpoints.sorted())")
    }

    private func documents(_ seed: UInt64, _ supabase: LocalSupabase) async throws -> LyingTransport {
        var run = Self.run(seed)
        let transport = run.transport
        var configuration = SupabaseConfiguration(url: supabase.server.url, key: Secret(supabase.anonKey))
        configuration.checkInterval = .seconds(5)
        let client = try await SupabaseModule(configuration) { transport }.makeStorageClient(
            Self.context(run, supabase))
        let collection = CollectionPath(unchecked: "lies\(seed)")
        var followers: [Task<Void, Never>] = []
        for number in 0..<14 {
            let path = collection.document("d\(run.random.int(0..<4))")
            let operation = run.random.int(0..<10)
            if operation < 2 {
                followers.append(
                    Task { do { for try await _ in client.snapshots(of: Query(in: collection)) {} } catch {} })
                continue
            }
            await run.call("operation \(operation)") { () async throws(StorageError) in
                switch operation {
                case 2: _ = try await client.document(path, from: .server)
                case 3: _ = try await client.documents(Query(in: collection), from: .server)
                case 4: _ = try await client.aggregate(Query(in: collection), [.count, .sum("n")])
                case 5: _ = try await client.collections(under: nil)
                case 6:
                    try await client.transaction { transaction in
                        let before = try await transaction.document(path)["n"]?.integerValue ?? 0
                        try await transaction.set(path, ["n": .of(before + 1)])
                    }
                default:
                    try await client.setDocument(path, ["n": .of(number), "text": .of(LyingRun.secret)]).acknowledged()
                }
            }
        }
        let truth = collection.document("truth")
        await run.honestly("an honest write") { () async throws(StorageError) in
            try await client.setDocument(truth, ["seed": .of(Int64(seed))]).acknowledged()
            return true
        }
        await run.honestly("an honest read") { () async throws(StorageError) in
            try await client.document(truth, from: .server)["seed"] == .integer(Int64(seed))
        }
        for follower in followers { follower.cancel() }
        await run.call("the end of streams") { [followers] () async throws(Never) in
            for follower in followers { await follower.value }
        }
        await run.call("the end") { () async throws(Never) in await client.shutDown() }
        return transport
    }

    private final class Inbox: Sendable {
        private let ids = Mutex<Set<RemoteMessage.ID>>([])
        func take(_ id: RemoteMessage.ID) { ids.withLock { _ = $0.insert(id) } }
        func has(_ id: RemoteMessage.ID) -> Bool { ids.withLock { $0.contains(id) } }
    }

    @Test(.beside(messagesRun)) func `Lies about messages are errors, and what is sent honestly arrives`() async throws
    {
        try await Self.messagesRun.value
    }

    private static let messagesRun: SideRun<Int, Void> = SideRun { try await SupabaseLieTests().messages() }

    private func messages() async throws {
        let supabase = try await Self.site()
        var endpoints: Set<String> = []
        for transport in try await sideBySide(LyingRun.seeds(8), width: 2, { try await messages($0, supabase) }) {
            endpoints.formUnion(transport.endpoints)
        }
        await supabase.stop()
        guard !LyingRun.isPart else { return }
        #expect(
            endpoints.isSuperset(of: ["switchyard_register", "switchyard_unregister", "socket"]),
            "\(endpoints.sorted())")
    }

    private func messages(_ seed: UInt64, _ supabase: LocalSupabase) async throws -> LyingTransport {
        var run = Self.run(seed)
        let transport = run.transport
        let configuration = SupabaseConfiguration(
            url: supabase.server.url, key: Secret(supabase.anonKey), serviceKey: Secret(supabase.serviceKey))
        let client = try await SupabaseModule(configuration) { transport }.makeMessagingClient(
            Self.context(run, supabase))
        let topic: MessagingTopic = "news"
        for _ in 0..<10 {
            let operation = run.random.int(0..<6)
            await run.call("operation \(operation)") { () async throws(MessagingError) in
                switch operation {
                case 0: _ = try await client.token()
                case 1: try await client.subscribe(to: topic)
                case 2: try await client.unsubscribe(from: topic)
                case 3: try await client.deleteToken()
                case 4: try await client.setPermission(.denied)
                default: try await client.setPermission(.granted)
                }
            }
        }
        await run.honestly("an honest subscription") { () async throws(MessagingError) in
            // Any operation before may have been a denial.
            try await client.setPermission(.granted)
            _ = try await client.token()
            try await client.subscribe(to: topic)
            return true
        }
        let inbox = Inbox()
        let listening = Task {
            do { for try await message in client.messageStream() { inbox.take(message.id) } } catch {}
        }
        let sender = try SupabaseMessageSender(configuration, transport: CurlTransport())
        await run.honestly("an honest message") { () async throws(MessagingError) in
            let id = try await sender.send(title: "T", to: .topic(topic))
            return (try? await eventually("it arrives", within: .seconds(2)) { inbox.has(id) }) != nil
        }
        listening.cancel()
        await sender.shutDown()
        await run.call("the end") { () async throws(Never) in await client.shutDown() }
        return transport
    }
}

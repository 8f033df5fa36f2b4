import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// Live queries that a realtime service prompts: on a real PostgreSQL, with a service that a test steers.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct LiveHintTests {
    /// Without a hint nothing is read during a test.
    private static let never = SupabaseWatch.Pace(alone: .seconds(3600), hinted: .seconds(3600))

    private struct Bed: Sendable {
        let site: SupabaseSite
        let stub: RealtimeStub
        let socket: RealtimeSocket
        private let wire = CurlTransport()
        /// Counts reads.
        let transport: CountingTransport
        let client: SyncedStorageClient
        let writer: SyncedStorageClient

        init(_ pace: SupabaseWatch.Pace, tables: TableMappings = .none) async throws {
            site = try await SupabaseSite.shared.value
            if !tables.isEmpty { _ = try await TableHarness.site.value }
            stub = try RealtimeStub()
            socket = RealtimeSocket(
                stub.address, tokens: SupabaseTokens(key: "key", auth: nil), transport: wire, jitter: { 0 })
            transport = CountingTransport(
                CurlTransport(), counting: tables.isEmpty ? "switchyard_changes" : "/rest/v1/items")
            client = SyncedStorageClient(
                driver: SupabaseDriver(
                    service: try site.service(transport: transport), tables: tables, realtime: socket, pace: pace))
            writer = SyncedStorageClient(
                driver: SupabaseDriver(service: try site.service(), tables: tables, pace: pace))
        }

        func write(_ path: StoragePath, _ number: Int) async throws {
            _ = try await writer.setDocument(path, ["number": .value(.integer(Int64(number)))]).acknowledged()
        }

        /// The database's newest transaction.
        func transaction() async throws -> UInt64 {
            try #require(UInt64(try await site.postgres.query("select pg_snapshot_xmax(pg_current_snapshot())")))
        }

        /// The oldest one that is still under way, or the next one.
        func oldestTransaction() async throws -> UInt64 {
            try #require(UInt64(try await site.postgres.query("select pg_snapshot_xmin(pg_current_snapshot())")))
        }

        func hint(_ topic: String, _ transaction: UInt64?) async throws {
            let payload: JSON = transaction.map { ["transaction": .string("\($0)")] } ?? [:]
            try await stub.send(
                RealtimeMessage(
                    topic: "realtime:\(topic)", event: "broadcast",
                    payload: ["type": "broadcast", "event": "change", "payload": payload]))
        }

        func stop() async {
            await client.shutDown()
            await writer.shutDown()
            socket.close()
            await wire.shutDown()
            await stub.stop()
        }
    }

    /// What a stream shows last, and whether that is the server's.
    private final class Screen: Sendable {
        private let state = Mutex((numbers: [Int64](), isFromCache: true, snapshots: 0))
        private let task = Mutex<Task<Void, Never>?>(nil)

        init(_ query: Query, on client: SyncedStorageClient) {
            let stream = client.snapshots(of: query, options: ListenOptions(includesMetadataChanges: true))
            let watching = Task { [weak self] in
                do {
                    for try await snapshot in stream {
                        self?.state.withLock { state in
                            state.numbers = snapshot.documents.map { $0.data?["number"]?.integerValue ?? -1 }
                            state.isFromCache = snapshot.metadata.isFromCache
                            state.snapshots += 1
                        }
                    }
                } catch {}
            }
            task.withLock { $0 = watching }
        }

        func leave() { task.withLock { $0?.cancel() } }
        func shows(_ numbers: [Int64]) -> Bool { state.withLock { $0.numbers == numbers && !$0.isFromCache } }
        var snapshots: Int { state.withLock(\.snapshots) }
    }

    private func collection() -> CollectionPath { CollectionPath(unchecked: "live-\(RandomID.make())") }

    @Test func `A write of somebody else is seen when the service announces it`() async throws {
        let bed = try await Bed(Self.never)
        let items = collection()
        let screen = Screen(Query(in: items), on: bed.client)
        try await eventually("the empty result") { screen.shows([]) }
        try await eventually("the channel is joined") { bed.stub.count(of: "phx_join") == 1 }
        let join = bed.stub.received.first { $0.event == "phx_join" }
        #expect(join?.topic == "realtime:documents:\(items.rawValue)")
        #expect(join?.payload["config"]?["private"] == true)
        #expect(join?.payload["config"]?["broadcast"]?["replication_ready"] == true)
        for number in 1...3 {
            try await bed.write(items.document("a"), number)
            try await bed.hint("documents:\(items.rawValue)", nil)
            try await eventually("the number \(number)") { screen.shows([Int64(number)]) }
        }
        screen.leave()
        await bed.stop()
    }

    @Test func `What happened before the channel was confirmed is seen then`() async throws {
        let bed = try await Bed(Self.never)
        bed.stub.confirmsJoins(false)
        let items = collection()
        let screen = Screen(Query(in: items), on: bed.client)
        try await eventually("the empty result") { screen.shows([]) }
        try await eventually("the channel is joined") { bed.stub.count(of: "phx_join") == 1 }
        try await bed.write(items.document("a"), 1)
        let ref = bed.stub.received.first { $0.event == "phx_join" }?.joinRef
        try await bed.stub.send(
            RealtimeMessage(
                joinRef: ref, topic: "realtime:documents:\(items.rawValue)", event: "system",
                payload: ["extension": "system", "status": "ok", "message": "Replication connection established"]))
        try await eventually("the number") { screen.shows([1]) }
        screen.leave()
        await bed.stop()
    }

    @Test func `What happened while the connection was cut is seen after it`() async throws {
        let bed = try await Bed(Self.never)
        let items = collection()
        let screen = Screen(Query(in: items), on: bed.client)
        try await eventually("the channel is joined") { bed.stub.count(of: "phx_join") == 1 }
        for number in 1...3 {
            bed.stub.refuseWebSockets(with: .noAnswer())
            bed.stub.dropConnections()
            try await bed.write(items.document("a"), number)
            bed.stub.refuseWebSockets(with: nil)
            try await eventually("the number \(number)") { screen.shows([Int64(number)]) }
        }
        screen.leave()
        await bed.stop()
    }

    @Test func `A hint of a known change causes no read, and doubled hints cause only one`() async throws {
        let bed = try await Bed(Self.never)
        let items = collection()
        let topic = "documents:\(items.rawValue)"
        let screen = Screen(Query(in: items), on: bed.client)
        try await eventually("the channel is joined") { bed.stub.count(of: "phx_join") == 1 }
        let old = try await bed.transaction() - 1
        try await bed.write(items.document("a"), 1)
        try await bed.hint(topic, nil)
        try await eventually("the number") { screen.shows([1]) }
        // As long as a transaction from before them is under way anywhere in the cluster, old hints may be new.
        try await eventually("the old ones are over") { try await bed.oldestTransaction() > old }
        // What the join and that hint still ask for stands before the next one.
        try await bed.write(items.document("a"), 2)
        try await bed.hint(topic, try await bed.transaction())
        try await eventually("the next number") { screen.shows([2]) }
        let (reads, snapshots) = (bed.transport.count, screen.snapshots)
        for _ in 0..<10 {
            for _ in 0..<2 { try await bed.hint(topic, old) }
            // Takes as long as several reads would.
            _ = try await bed.transaction()
        }
        // A new hint stands behind the old ones: once it has been followed, they have been passed over.
        try await bed.write(items.document("a"), 3)
        try await bed.hint(topic, try await bed.transaction())
        try await eventually("the other number") { screen.shows([3]) }
        // One read, and another where a transaction was still under way; ten or more, had the old ones been followed.
        #expect((1...4).contains(bed.transport.count - reads))
        #expect(screen.snapshots == snapshots + 1)
        screen.leave()
        await bed.stop()
    }

    @Test func `Without a service, or while it does not confirm, the database is asked every now and then`()
        async throws
    {
        let bed = try await Bed(SupabaseWatch.Pace(alone: .milliseconds(20), hinted: .seconds(3600)))
        bed.stub.refuseJoins("Unauthorized: no")
        let items = collection()
        let screen = Screen(Query(in: items), on: bed.client)
        try await eventually("the refusal") { bed.stub.count(of: "phx_join") == 1 }
        for number in 1...3 {
            try await bed.write(items.document("a"), number)
            try await eventually("the number \(number)") { screen.shows([Int64(number)]) }
        }
        screen.leave()
        await bed.stop()
    }

    @Test func `While everything is delivered the questions become rare`() async throws {
        let bed = try await Bed(SupabaseWatch.Pace(alone: .milliseconds(1), hinted: .seconds(3600)))
        let items = collection()
        let screen = Screen(Query(in: items), on: bed.client)
        try await eventually("the empty result") { screen.shows([]) }
        // 1 + 2 + 4 + … milliseconds: no more than these in a second, where 1000 would be asked alone.
        try await Task.sleep(for: .seconds(1))
        #expect(bed.transport.count < 40)
        screen.leave()
        await bed.stop()
    }

    @Test func `Rows that leave a filter, and rows that go, leave the result`() async throws {
        for tables in [TableMappings.none, try TableHarness.tables()] {
            let bed = try await Bed(Self.never, tables: tables)
            let items: CollectionPath =
                tables.isEmpty ? collection() : CollectionPath(unchecked: "conformance/\(RandomID.make())/items")
            let screen = Screen(
                Query(in: items).where("number", .greaterThan, 10).ordered(by: "number"), on: bed.client)
            try await eventually("the channel is joined") { bed.stub.count(of: "phx_join") == 1 }
            func sendHint() async throws {
                guard !tables.isEmpty else { return try await bed.hint("documents:\(items.rawValue)", nil) }
                try await bed.stub.send(
                    RealtimeMessage(
                        topic: "realtime:rows:public.items", event: "postgres_changes",
                        payload: ["ids": [1], "data": ["schema": "public", "table": "items", "type": "UPDATE"]]))
            }
            for (id, number) in [("a", 11), ("b", 12), ("c", 13)] { try await bed.write(items.document(id), number) }
            try await sendHint()
            try await eventually("all three") { screen.shows([11, 12, 13]) }
            try await bed.write(items.document("a"), 1)
            try await sendHint()
            try await eventually("one has left the filter") { screen.shows([12, 13]) }
            _ = try await bed.writer.deleteDocument(items.document("b")).acknowledged()
            try await sendHint()
            try await eventually("one is deleted") { screen.shows([13]) }
            screen.leave()
            await bed.stop()
        }
    }

    @Test func `A row that goes out of the user's sight leaves the result when results are counted`() async throws {
        let bed = try await Bed(
            SupabaseWatch.Pace(alone: .milliseconds(20), hinted: .milliseconds(20), count: .milliseconds(60)))
        let items = collection()
        let screen = Screen(Query(in: items), on: bed.client)
        for (id, number) in [("a", 1), ("b", 2)] { try await bed.write(items.document(id), number) }
        try await eventually("both") { screen.shows([1, 2]) }
        try await bed.site.postgres.query(
            "update switchyard.documents set owner = 'somebody' where path = '\(items.rawValue)/a'")
        try await eventually("one is gone") { screen.shows([2]) }
        screen.leave()
        await bed.stop()
    }

    @Test func `Channels are shared by queries of one place and left when no one listens any more`() async throws {
        let bed = try await Bed(Self.never)
        let items = collection()
        let screens = (0..<5).map {
            Screen(Query(in: items).where("number", .greaterThan, $0), on: bed.client)
        }
        try await eventually("all are there") { screens.allSatisfy { $0.shows([]) } }
        #expect(bed.stub.count(of: "phx_join") == 1)
        for screen in screens { screen.leave() }
        await bed.client.shutDown()
        try await eventually("the channel is left") { bed.stub.count(of: "phx_leave") == 1 }
        await bed.stop()
    }
}

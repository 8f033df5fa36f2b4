import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestRuns
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// Fifty live queries while others write and everything between breaks: in the end each shows what its query finds.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct LiveStormTests {
    private final class Screen: Sendable {
        let query: Query
        private let shown = Mutex<(documents: [DocumentSnapshot], isFromCache: Bool)?>(nil)
        private let problems = Mutex<[String]>([])
        private let task = Mutex<Task<Void, Never>?>(nil)

        init(_ query: Query, on client: SyncedStorageClient) {
            self.query = query
            let watching = Task { [weak self] in
                var paths: [StoragePath] = []
                do {
                    for try await snapshot in client.snapshots(
                        of: query, options: ListenOptions(includesMetadataChanges: true))
                    {
                        guard let self else { return }
                        // Changes lead from one snapshot to the next: nothing missed, nothing doubled.
                        for change in snapshot.changes {
                            if let old = change.oldIndex { paths.remove(at: old) }
                            if let new = change.newIndex { paths.insert(change.document.path, at: new) }
                        }
                        let documents = Array(snapshot.documents)
                        if paths != documents.map(\.path) {
                            self.problems.withLock { $0.append("\(paths) is not \(documents.map(\.path))") }
                        }
                        self.shown.withLock { $0 = (documents, snapshot.metadata.isFromCache) }
                    }
                } catch {
                    self?.problems.withLock { $0.append("\(error)") }
                }
            }
            task.withLock { $0 = watching }
        }

        var complaints: [String] { problems.withLock { $0 } }

        func shows(_ expected: [DocumentSnapshot]) -> Bool {
            shown.withLock { shown in
                shown.map { shown in
                    !shown.isFromCache && shown.documents.map(\.path) == expected.map(\.path)
                        && shown.documents.map(\.data) == expected.map(\.data)
                } == true
            }
        }

        func leave() { task.withLock { $0?.cancel() } }
    }

    private static func queries() throws -> [Query] {
        (0..<10).flatMap { number -> [Query] in
            let all = Query(in: CollectionPath(unchecked: "storm/c\(number)/items"))
            return [
                all, all.where("n", .greaterThan, 50).ordered(by: "n"),
                all.ordered(by: "n", .descending).limited(to: 3), all.where("tag", .equal, "t1"),
                Query(group: "items").where("tag", .equal, .string("t\(number % 4)")).ordered(by: "n").limited(
                    to: 5),
            ]
        }
    }

    /// What the server has. A connection of its pool that was cut while idle fails whoever gets it next.
    private static func results(of query: Query, _ client: SyncedStorageClient) async throws -> QuerySnapshot {
        for _ in 0..<20 {
            do {
                return try await client.documents(query, from: .server)
            } catch {
                guard error.code == .unavailable else { throw error }
            }
        }
        return try await client.documents(query, from: .server)
    }

    @Test(.beside(stormRun)) func `Each of fifty live queries ends equal to its query`() async throws {
        try await Self.stormRun.value
    }

    private static let stormRun: SideRun<Int, Void> = SideRun { try await LiveStormTests().storm() }

    private func storm() async throws {
        let supabase = try await LocalSupabase()
        let connection = try await supabase.database.connect()
        // Behind the realtime service's own tables, so that hints go that way.
        try await connection.run(script: DocumentSchema.sql)
        connection.close()
        let wire = CurlTransport()
        let tokens = SupabaseTokens(key: Secret(supabase.accessToken(for: "tester")), auth: nil)
        let socket = RealtimeSocket(
            supabase.server.url("/realtime/v1"), tokens: tokens, transport: wire, clock: BriefClock(), jitter: { 0 })
        func client(_ realtime: RealtimeSocket?) throws -> SyncedStorageClient {
            let service = PostgRESTService(
                project: try SupabaseProject(supabase.server.url), tokens: tokens, transport: CurlTransport())
            return SyncedStorageClient(
                driver: SupabaseDriver(
                    service: service, realtime: realtime,
                    pace: SupabaseWatch.Pace(alone: .milliseconds(100), hinted: .seconds(2))), clock: BriefClock())
        }
        let listener = try client(socket)
        let screens = try Self.queries().map { Screen($0, on: listener) }
        let writers = try (0..<3).map { _ in try client(nil) }

        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, writer) in writers.enumerated() {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(index) + 1)
                    for _ in 0..<60 { try await Self.write(with: writer, &random) }
                }
            }
            group.addTask {
                for round in 0..<9 {
                    // Spreads the disturbances over the writes; what is expected does not depend on where they fall.
                    try await Task.sleep(for: .milliseconds(150))
                    try await Self.disturb(supabase, round)
                }
            }
            try await group.waitForAll()
        }
        for screen in screens {
            let expected = try await Self.results(of: screen.query, writers[0])
            try await eventually("\(screen.query) shows its results") { screen.shows(Array(expected.documents)) }
            #expect(screen.complaints.isEmpty)
        }
        for screen in screens { screen.leave() }
        for client in writers + [listener] { await client.shutDown() }
        socket.close()
        await wire.shutDown()
        await supabase.stop()
    }

    private static func write(with writer: SyncedStorageClient, _ random: inout SeededGenerator) async throws {
        let path = StoragePath(
            unchecked:
                "storm/c\(Int.random(in: 0..<10, using: &random))/items/d\(Int.random(in: 0..<12, using: &random))")
        let write: DocumentWrite =
            if Int.random(in: 0..<5, using: &random) == 0 {
                .delete(path)
            } else {
                try .set(
                    path,
                    data: [
                        "n": .integer(Int64.random(in: 0..<100, using: &random)),
                        "tag": .string("t\(Int.random(in: 0..<4, using: &random))"),
                    ])
            }
        _ = try await writer.commit(WriteBatch([write])).acknowledged()
    }

    /// Everything that can go wrong between the database and whoever watches it, in turn.
    private static func disturb(_ supabase: LocalSupabase, _ round: Int) async throws {
        let faults = supabase.realtimeFaults
        switch round {
        case 0: faults.dropEvents(40)
        case 1: supabase.cutSockets()
        case 2: faults.delayEvents(40, by: .milliseconds(300))
        case 3: supabase.server.dropConnections()
        case 4: try await supabase.postgres?.restart()
        case 5: faults.doubleEvents(40)
        case 6:
            faults.refusesWebSockets = true
            supabase.cutSockets()
        case 7: faults.reorderEvents(20)
        default:
            faults.removeAll()
            supabase.cutSockets()
        }
    }
}

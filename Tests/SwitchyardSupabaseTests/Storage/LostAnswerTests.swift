import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// Answers that never arrive, and many who write the same.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct LostAnswerTests {
    /// How the answer to a commit is lost.
    enum Loss: CaseIterable, Sendable {
        /// Carried out, and the connection to the client ends.
        case connection
        /// Not carried out, since the service has lost its database.
        case databaseBefore
        /// Carried out, but the service has lost its database before it knew.
        case databaseAfter

        var fault: Fault {
            switch self {
            case .connection: .dropAnswer(reset: true)
            case .databaseBefore: LocalSupabase.losesDatabaseBefore
            case .databaseAfter: LocalSupabase.losesDatabaseAfter
            }
        }
    }

    private func withClients(
        _ count: Int, tables: TableMappings = .none, losing: Loss? = nil,
        _ body: ([SyncedStorageClient], SupabaseSite) async throws -> Void
    ) async throws {
        let site = try await SupabaseSite()
        try await site.postgres.query(TableHarness.sql)
        let counter = Mutex(0)
        if let losing {
            // Every third one.
            site.supabase.faults.add(losing.fault, times: nil) { request in
                request.rawPath.contains("switchyard_commit")
                    && counter.withLock { count in
                        count += 1
                        return count % 3 == 0
                    }
            }
        }
        let clients = try (0..<count).map { _ in
            SyncedStorageClient(
                driver: SupabaseDriver(
                    service: try site.service(), tables: tables, pace: SupabaseWatch.Pace(alone: .milliseconds(25)),
                    clock: BriefClock()), clock: BriefClock())
        }
        try await body(clients, site)
        for client in clients { await client.shutDown() }
        if losing != nil { #expect(counter.withLock { $0 } > 30) }
        await site.stop()
    }

    private func increment(
        _ path: StoragePath, _ field: String, times: Int, by clients: [SyncedStorageClient]
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in clients {
                group.addTask {
                    for _ in 0..<times {
                        _ = try await client.commit(WriteBatch([.merge(path, [field: .increment(1)])])).acknowledged()
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(arguments: Loss.allCases)
    func `Of increments whose answers are lost each counts once`(_ loss: Loss) async throws {
        try await withClients(4, losing: loss) { clients, _ in
            try await increment("counters/a", "n", times: 12, by: clients)
            #expect(try await clients[0].document("counters/a", from: .server).data?["n"] == 48)
        }
    }

    @Test(arguments: Loss.allCases)
    func `The same in a project's own table`(_ loss: Loss) async throws {
        try await withClients(4, tables: try TableHarness.mixedTables(), losing: loss) { clients, _ in
            try await increment("conformance/x/items/a", "number", times: 12, by: clients)
            #expect(try await clients[0].document("conformance/x/items/a", from: .server).data?["number"] == 48)
        }
    }

    @Test func `Eight clients at once lose nothing`() async throws {
        let times = RunSize.full(40, part: 10)
        try await withClients(8) { clients, _ in
            try await increment("counters/a", "n", times: times, by: clients)
            let sum = try await clients[0].document("counters/a", from: .server).data?["n"]
            #expect(sum == .integer(Int64(8 * times)))
        }
    }

    @Test func `Eight clients at once lose nothing in a table, also beside somebody who writes directly`() async throws
    {
        try await withClients(8, tables: try TableHarness.tables()) { clients, site in
            async let direct: Void = {
                for _ in 0..<20 {
                    try await site.postgres.query("update public.items set number = number + 1 where id = 'a'")
                }
            }()
            _ = try await clients[0].setDocument("conformance/x/items/a", ["number": 0]).acknowledged()
            try await increment("conformance/x/items/a", "number", times: 20, by: clients)
            try await direct
            let count = try await site.postgres.query("select number from public.items")
            // What was written directly before the row was there changed nothing.
            let added = try #require(Int(count)) - 160
            #expect((0...20).contains(added))
        }
    }

    @Test func `Transactions that meet each other all take effect`() async throws {
        try await withClients(4) { clients, _ in
            _ = try await clients[0].setDocument("counters/a", ["n": 0]).acknowledged()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in clients {
                    group.addTask {
                        for _ in 0..<5 {
                            let options = TransactionOptions(maximumAttempts: 50)
                            try await client.transaction(options) { transaction in
                                let count = try await transaction.document("counters/a").data?["n"]?.integerValue ?? 0
                                try await transaction.set("counters/a", ["n": .value(.integer(count + 1))])
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await clients[0].document("counters/a", from: .server).data?["n"] == 20)
        }
    }

    @Test func `Results beyond the service's row cap are all there`() async throws {
        try await withClients(1, tables: try TableHarness.mixedTables()) { clients, site in
            try await site.postgres.query(
                """
                insert into switchyard.documents (path, data, owner)
                  select 'many/d' || n, jsonb_build_object('n', n), 'tester' from generate_series(1, 2500) n;
                insert into public.items (parent, id, number, changed_at)
                  select 'x', 'r' || n, n, now() from generate_series(1, 2500) n;
                """)
            for items: CollectionPath in ["many", "conformance/x/items"] {
                let query = Query(in: items)
                let found = try await clients[0].documents(query, from: .server)
                #expect(found.documents.count == 2500)
                #expect(try await clients[0].count(query) == 2500)
                let listening = clients[0].snapshots(of: query)
                for try await snapshot in listening where !snapshot.metadata.isFromCache {
                    #expect(snapshot.documents.count == 2500)
                    break
                }
            }
        }
    }
}

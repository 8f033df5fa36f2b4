import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// Batches that wait share a call, and each keeps a name and an outcome of its own.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SharedCommitTests {
    /// Counts the calls of the functions that commit and look up, by name.
    private final class Calls: Sendable {
        private let counts = Mutex<[String: Int]>([:])

        init(to supabase: LocalSupabase) {
            supabase.faults.add(.dropAnswer(), times: nil) { [weak self] request in
                guard let name = request.rawPath.split(separator: "/").last else { return false }
                self?.counts.withLock { $0[String(name), default: 0] += 1 }
                return false
            }
        }

        subscript(name: String) -> Int { counts.withLock { $0[name] ?? 0 } }
    }

    private func withClient(
        tables: TableMappings = .none, gate: SchemaCheck? = nil,
        _ body: (SyncedStorageClient, SupabaseSite, Calls) async throws -> Void
    ) async throws {
        let site = try await SupabaseSite()
        try await site.postgres.query(TableHarness.sql)
        let calls = Calls(to: site.supabase)
        var service = try site.service()
        service.gate = gate
        let client = SyncedStorageClient(
            driver: SupabaseDriver(service: service, tables: tables, clock: BriefClock()), clock: BriefClock())
        try await body(client, site, calls)
        await client.shutDown()
        await site.stop()
    }

    /// Queues all writes before any is sent.
    private func queue(_ writes: [DocumentWrite], on client: SyncedStorageClient) async throws -> [WriteReceipt] {
        try await client.disableNetwork()
        var receipts: [WriteReceipt] = []
        for write in writes { receipts.append(try await client.commit(WriteBatch([write]))) }
        try await client.enableNetwork()
        return receipts
    }

    @Test func `Batches that wait share one call, in order, also those of one document`() async throws {
        try await withClient { client, site, calls in
            var writes: [DocumentWrite] = []
            for number in 0..<20 {
                writes.append(try .merge("a/one", ["n": .increment(1), "last": .of(number)]))
                writes.append(try .create(StoragePath(unchecked: "a/d\(number)"), ["number": .of(number)]))
            }
            for receipt in try await queue(writes, on: client) { try await receipt.acknowledged() }
            let one = try await client.document("a/one", from: .server)
            #expect(one["n"] == 20 && one["last"] == 19)
            #expect(try await site.postgres.query("select count(*) from switchyard.documents") == "21")
            #expect(try await site.postgres.query("select count(*) from switchyard.batches") == "40")
            #expect(calls["switchyard_commit_many"] >= 1 && calls["switchyard_commit_many"] <= 3)
            #expect(calls["switchyard_commit"] <= 2)
            #expect(calls["switchyard_outcome"] == 0)
        }
    }

    @Test func `A path that is too long for the database is refused before it is queued`() async throws {
        try await withClient { client, _, _ in
            let longest = StoragePath(unchecked: "a/" + String(repeating: "n", count: 898))
            try await client.setDocument(longest, ["n": 1]).acknowledged()
            let refusal = await #expect(throws: StorageError.self) {
                try await client.setDocument(StoragePath(unchecked: longest.rawValue + "n"), ["n": 1])
            }
            #expect(refusal?.code == .invalidArgument)
            #expect(refusal?.message.contains("has 901 bytes; Supabase allows 900") == true)
            let pending = try await client.pendingWrites().first { _ in true }
            #expect(pending?.isEmpty == true)
        }
    }

    @Test func `A refused batch among others is refused by itself, with its reason, and the others keep their order`()
        async throws
    {
        try await withClient { client, _, calls in
            let receipts = try await queue(
                [
                    try .create("a/one", ["n": 1]), try .merge("a/one", ["n": .increment(1)]),
                    try .update("a/none", ["n": 1]), try .create("a/one", ["n": 100]),
                    try .merge("a/one", ["n": .increment(10)]), try .set("a/two", ["n": 1]),
                ], on: client)
            for (index, receipt) in receipts.enumerated() where ![2, 3].contains(index) {
                try await receipt.acknowledged()
            }
            let missing = await #expect(throws: StorageError.self) { try await receipts[2].acknowledged() }
            let taken = await #expect(throws: StorageError.self) { try await receipts[3].acknowledged() }
            #expect(missing?.code == .notFound && taken?.code == .alreadyExists)
            #expect(try await client.document("a/one", from: .server)["n"] == 12)
            #expect(try await client.document("a/two", from: .server).exists)
            #expect(calls["switchyard_commit_many"] >= 2)
            #expect(calls["switchyard_outcome"] == 0)
            let refused = try #require(try await client.refusedWrites().first { _ in true })
            #expect(refused.map(\.batch.writes[0].path) == ["a/none", "a/one"])
        }
    }

    @Test(arguments: LostAnswerTests.Loss.allCases)
    func `Of batches whose shared answer is lost each counts once`(_ loss: LostAnswerTests.Loss) async throws {
        try await withClient { client, site, calls in
            let rule = site.supabase.faults.add(loss.fault, times: nil, every: 2) {
                $0.rawPath.contains("switchyard_commit_many")
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<16 {
                    group.addTask {
                        for _ in 0..<6 {
                            let batch = WriteBatch([
                                try .merge(StoragePath(unchecked: "counters/t\(task)"), ["n": .increment(1)]),
                                try .merge(StoragePath(unchecked: "shared/s\(task % 3)"), ["n": .increment(1)]),
                            ])
                            try await client.commit(batch).acknowledged()
                        }
                    }
                }
                try await group.waitForAll()
            }
            let counted = try await client.documents(Query(in: "counters"), from: .server).documents
            #expect(counted.count == 16 && counted.allSatisfy { $0["n"] == 6 })
            let shared = try await client.documents(Query(in: "shared"), from: .server).documents
            #expect(shared.map { $0["n"] } == [36, 30, 30])
            #expect(site.supabase.faults.strikes(of: rule) >= 2)
            // A lost connection is dealt with below the engine.
            if loss != .connection { #expect(calls["switchyard_outcome"] > 0) }
        }
    }

    @Test func `Rows and documents follow each other in order, each batch as it would be by itself`() async throws {
        try await withClient(tables: try TableHarness.mixedTables()) { client, site, calls in
            let receipts = try await queue(
                [
                    try .set("conformance/x/items/a", ["number": 1]), try .set("a/one", ["n": 1]),
                    try .merge("conformance/x/items/a", ["number": .increment(1)]),
                    try .set("conformance/x/items/b", ["number": "none"]),
                    try .merge("conformance/x/items/a", ["number": .increment(1)]),
                    try .merge("a/one", ["n": .increment(1)]),
                ], on: client)
            for (index, receipt) in receipts.enumerated() where index != 3 { try await receipt.acknowledged() }
            let failure = await #expect(throws: StorageError.self) { try await receipts[3].acknowledged() }
            #expect(failure?.code == .invalidArgument && failure?.message.contains("number") == true)
            #expect(try await site.postgres.query("select id, number from public.items") == "a|3")
            #expect(try await client.document("a/one", from: .server)["n"] == 2)
            // What must not count twice goes through the functions, whose ledger knows it.
            #expect(calls["switchyard_commit_rows"] >= 2)
        }
    }

    @Test func `Functions that are older carry out the batches one by one`() async throws {
        try await withClient(gate: SchemaCheck(needed: 1)) { client, site, calls in
            try await site.postgres.query(
                "drop function public.switchyard_commit_many; update switchyard.settings set schema = 10")
            let writes = try (0..<8).map { _ in try DocumentWrite.merge("a/one", ["n": .increment(1)]) }
            for receipt in try await queue(writes, on: client) { try await receipt.acknowledged() }
            #expect(try await client.document("a/one", from: .server)["n"] == 8)
            #expect(calls["switchyard_commit_many"] == 0 && calls["switchyard_commit"] == 8)
        }
    }

    @Test func `Large batches do not share a call beyond its size`() async throws {
        try await withClient { client, site, calls in
            let text = String(repeating: "x", count: 400_000)
            let writes = try (0..<6).map {
                try DocumentWrite.set(StoragePath(unchecked: "a/d\($0)"), ["text": .of(text)])
            }
            for receipt in try await queue(writes, on: client) { try await receipt.acknowledged() }
            #expect(try await site.postgres.query("select count(*) from switchyard.documents") == "6")
            #expect(calls["switchyard_commit_many"] >= 2)
            #expect(calls["switchyard_outcome"] == 0)
        }
    }

    @Test func `Two who write the same documents in opposite order do not wait for each other for ever`() async throws {
        try await withClient { one, site, _ in
            let other = try site.client()
            let paths = (0..<12).map { StoragePath(unchecked: "a/d\($0)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (client, paths) in [(one, paths), (other, paths.reversed())] {
                    group.addTask {
                        for _ in 0..<5 {
                            let writes = try paths.map { try DocumentWrite.merge($0, ["n": .increment(1)]) }
                            for receipt in try await queue(writes, on: client) { try await receipt.acknowledged() }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let documents = try await one.documents(Query(in: "a"), from: .server).documents
            #expect(documents.count == 12 && documents.allSatisfy { $0["n"] == 10 })
            #expect(
                try await site.postgres.query(
                    "select deadlocks from pg_stat_database where datname = current_database()")
                    == "0")
            await other.shutDown()
        }
    }
}

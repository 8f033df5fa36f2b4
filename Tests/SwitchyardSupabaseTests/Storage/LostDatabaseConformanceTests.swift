import Switchyard
import SwitchyardBytes
import SwitchyardConformance
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestRuns
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// The whole suite over a data service that loses its database at every third commit, one time before it has begun and the
/// next as it ends: nothing is refused, and nothing is carried out twice.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct LostDatabaseConformanceTests {
    private struct Harness: StorageHarness {
        let site: SupabaseSite
        var features: StorageFeatures { SupabaseHarness.features }

        func makeStorageClient() async throws -> any StorageClient { try site.hurriedClient() }
    }

    private final class Counter: Sendable {
        private let value = Mutex(0)

        func next() -> Int {
            value.withLock { value in
                value += 1
                return value
            }
        }
    }

    private struct Bed: Sendable {
        let site: SupabaseSite
        let rules: [FaultSwitches.Rule]
    }

    private static let bed = Task {
        let site = try await SupabaseSite()
        let faults = [(6, LocalSupabase.losesDatabaseBefore), (5, LocalSupabase.losesDatabaseAfter)]
        let rules = faults.map { period, fault in
            let commits = Counter()
            return site.supabase.faults.add(fault, times: nil) { request in
                request.rawPath.contains("switchyard_commit") && commits.next().isMultiple(of: period)
            }
        }
        return Bed(site: site, rules: rules)
    }

    /// One check at a time: five clients that take turns would have the same one lose its commit each time.
    private static let turns = AsyncSerialQueue()

    private static let run = ConformanceRun(
        "supabase documents without their database", StorageConformance.all, for: SupabaseHarness.features, part: 6
    ) { check in
        let harness = Harness(site: try await bed.value.site)
        try await turns.take { () async throws(any Error) in try await check(harness) }
    }

    @Test(.beside(run), arguments: run.checks)
    func `Documents on Postgres, with its connection lost at every third commit`(_ check: StorageCheck) async throws {
        try await Self.run.outcome(of: check)
    }

    @Test func `A transaction whose commit is lost twelve times in a row is carried out once`() async throws {
        let site = try await SupabaseSite()
        let client = try site.hurriedClient()
        try await client.setDocument("lost/once", ["n": 1]).acknowledged()
        let rule = site.supabase.faults.add(LocalSupabase.losesDatabaseAfter, times: 12) {
            $0.rawPath.hasSuffix("switchyard_commit")
        }
        try await client.transaction { transaction in
            let number = try await transaction.document("lost/once")["n"]?.integerValue ?? 0
            try await transaction.set("lost/once", ["n": .of(number + 1)])
        }
        #expect(site.supabase.faults.strikes(of: rule) == 12)
        #expect(try await client.document("lost/once", from: .server).data?["n"] == 2)
        await client.shutDown()
        await site.stop()
    }

    @Test func `Both faults occur, and what is counted is counted once`() async throws {
        let bed = try await Self.bed.value
        let faults = bed.site.supabase.faults
        let before = bed.rules.map { faults.strikes(of: $0) }
        let client = try bed.site.hurriedClient()
        for _ in 0..<24 {
            _ = try await client.commit(WriteBatch([.merge("lost/counter", ["n": .increment(1)])])).acknowledged()
        }
        #expect(try await client.document("lost/counter", from: .server).data?["n"] == 24)
        for (rule, count) in zip(bed.rules, before) { #expect(faults.strikes(of: rule) >= count + 3) }
        await client.shutDown()
    }
}

import Switchyard
import SwitchyardConformance
import SwitchyardEmulator
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

    private static let site = Task {
        let site = try await SupabaseSite()
        for (period, fault) in [(6, LocalSupabase.losesDatabaseBefore), (5, LocalSupabase.losesDatabaseAfter)] {
            let commits = Counter()
            site.supabase.faults.add(fault, times: nil) { request in
                request.rawPath.hasSuffix("switchyard_commit") && commits.next().isMultiple(of: period)
            }
        }
        return site
    }

    static let tally = ConformanceTally(
        "supabase documents without their database", StorageConformance.all, for: SupabaseHarness.features)

    @Test(arguments: StorageConformance.checks(for: SupabaseHarness.features))
    func `Documents on Postgres, with its connection lost at every third commit`(_ check: StorageCheck) async throws {
        try await Self.tally.run(check, on: Harness(site: try await Self.site.value))
    }
}

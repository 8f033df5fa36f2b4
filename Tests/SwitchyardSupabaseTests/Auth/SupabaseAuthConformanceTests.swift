import Switchyard
import SwitchyardConformance
import SwitchyardTestRuns
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// The checks of one project run one after the other, for some of them move the server's clock.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SupabaseAuthConformanceTests {
    static let run = ConformanceRun(
        "supabase auth", AuthConformance.all, for: LocalSupabaseAuthHarness.features, width: 1
    ) {
        try await LocalSupabaseAuthHarness()
    }

    static let askingRun = ConformanceRun(
        "supabase auth, asking", AuthConformance.all, for: LocalSupabaseAuthHarness.askingFeatures, part: 4, width: 1
    ) {
        try await LocalSupabaseAuthHarness(asksForConfirmation: true)
    }

    @Test(.beside(run), arguments: run.checks)
    func `Supabase's auth`(_ check: AuthCheck) async throws { try await Self.run.outcome(of: check) }

    @Test(.beside(askingRun), arguments: askingRun.checks)
    func `Supabase's auth, with addresses to be confirmed`(_ check: AuthCheck) async throws {
        try await Self.askingRun.outcome(of: check)
    }

    @Test func `What Supabase is spared`() {
        let optional = [
            "a custom token signs in as the one it names", "a custom token that no one signed is refused",
        ]
        #expect(AuthConformance.leftOut(for: LocalSupabaseAuthHarness.askingFeatures) == optional)
        let asking = AuthConformance.all.filter { check in
            check.requirements.contains { $0.name == "confirmed addresses" }
        }
        #expect(AuthConformance.leftOut(for: LocalSupabaseAuthHarness.features) == optional + asking.map(\.name))
    }
}

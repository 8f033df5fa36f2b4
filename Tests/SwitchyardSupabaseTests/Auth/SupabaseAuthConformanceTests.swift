import Switchyard
import SwitchyardConformance
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// One after the other, for some of them move the server's clock.
@Suite(.serialized, .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SupabaseAuthConformanceTests {
    static let tally = ConformanceTally("supabase auth", AuthConformance.all, for: LocalSupabaseAuthHarness.features)

    @Test(arguments: AuthConformance.checks(for: LocalSupabaseAuthHarness.features))
    func `Supabase's auth`(_ check: AuthCheck) async throws {
        try await Self.tally.run(check, on: try await LocalSupabaseAuthHarness())
    }

    @Test(arguments: AuthConformance.checks(for: LocalSupabaseAuthHarness.askingFeatures))
    func `Supabase's auth, with addresses to be confirmed`(_ check: AuthCheck) async throws {
        try await check.run(on: try await LocalSupabaseAuthHarness(asksForConfirmation: true))
    }

    @Test func `What Supabase is spared`() {
        let spared = [
            "a custom token signs in as the one it names", "a custom token that nobody signed is refused",
        ]
        #expect(AuthConformance.leftOut(for: LocalSupabaseAuthHarness.askingFeatures) == spared)
        let asking = AuthConformance.all.filter { check in
            check.requirements.contains { $0.name == "confirmed addresses" }
        }
        #expect(AuthConformance.leftOut(for: LocalSupabaseAuthHarness.features) == spared + asking.map(\.name))
    }
}

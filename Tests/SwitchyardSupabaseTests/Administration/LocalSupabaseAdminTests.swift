import Foundation
import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestRuns
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// The client and the local server, beyond the suite.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct LocalSupabaseAdminTests {
    private static func with(_ body: (LocalSupabase, any AdminClient) async throws -> Void) async throws {
        // The clock stands still: all accounts are of one moment.
        var options = LocalSupabaseOptions()
        let clock = MovedClock()
        options.now = { clock.now }
        let supabase = try await LocalSupabase.onSharedPostgres(options)
        var configuration = SupabaseConfiguration(url: supabase.server.url, key: Secret(supabase.anonKey))
        configuration.serviceKey = Secret(supabase.serviceKey)
        let backend = try await Infrastructure(.supabase(configuration))
        do {
            try await body(supabase, try await backend.admin())
        } catch {
            await backend.shutDown()
            await supabase.stop()
            throw error
        }
        await backend.shutDown()
        await supabase.stop()
    }

    @Test(.beside(oneMomentRun)) func `Accounts of one moment are shown once each, and those around them`() async throws
    {
        try await Self.oneMomentRun.value
    }

    private static let oneMomentRun: SideRun<Int, Void> = SideRun { try await LocalSupabaseAdminTests().oneMoment() }

    private func oneMoment() async throws {
        try await Self.with { supabase, admin in
            _ = try await supabase.database.run([
                PostgresStatement(
                    """
                    insert into auth.users (instance_id, email, created_at)
                    select '00000000-0000-0000-0000-000000000000', 'n' || n || '@example.com',
                      timestamptz '2026-01-01' + make_interval(secs => n / 40) from generate_series(1, 130) n
                    """)
            ])
            for limit in RunSize.full([1, 7, 60, 1000], part: [7, 1000]) {
                var seen: [String] = []
                for try await page in admin.accountPages(size: limit) {
                    #expect(page.accounts.count <= limit)
                    seen += page.accounts.compactMap(\.email)
                }
                #expect(seen.count == 130 && Set(seen).count == 130, "pages of \(limit)")
            }
        }
    }

    @Test func `An address is found among those that look like it`() async throws {
        try await Self.with { _, admin in
            var ids: [String: AuthUser.ID] = [:]
            for email in ["a_b@example.com", "axb@example.com", "xa_b@example.com", "a_b@example.com.au"] {
                ids[email] = try await admin.create(NewAccount(email: email)).id
            }
            for (email, id) in ids { #expect(try await admin.account(email: email.uppercased()).id == id) }
            #expect(try await admin.accounts([.email("b@example.com")]) == [nil])
        }
    }

    @Test func `A new password ends the sessions that there are`() async throws {
        try await Self.with { supabase, admin in
            let made = try await admin.create(
                NewAccount(email: "alice@example.com", isEmailVerified: true, password: "secret"))
            let device = try await SupabaseModule(
                SupabaseConfiguration(url: supabase.server.url, key: Secret(supabase.anonKey))
            ).makeAuthClient(ModuleContext())
            _ = try await device.signIn(email: "alice@example.com", password: "secret")
            try await admin.update(made.id, AccountEdit(password: "another"))
            let error = await #expect(throws: AuthError.self) { try await device.accessToken(refreshing: true) }
            #expect(error?.code == .sessionExpired)
            await device.shutDown()
        }
    }

    @Test func `Without the service key nothing acts for the project, and what is missing is said`() async throws {
        let backend = try await Infrastructure(.supabase(url: "https://demo.supabase.co", key: "sb_publishable_key"))
        let errors = [
            await #expect(throws: InfrastructureError.self) { _ = try await backend.admin() },
            await #expect(throws: InfrastructureError.self) { _ = try await backend.actingAsProject() },
        ]
        for error in errors {
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains("serviceKey") == true && error?.message.contains("never in an app") == true)
        }
        await backend.shutDown()
    }
}

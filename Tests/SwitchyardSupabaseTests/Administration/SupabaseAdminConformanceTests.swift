import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardConformance
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestRuns
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// A project on a local Supabase, with its service key.
struct SupabaseAdminHarness: AdminHarness {
    static let features: AdminFeatures = {
        var capabilities = AdminCapabilities()
        capabilities.links = Set(AccountLink.allCases)
        capabilities.passwordHashes = [.bcrypt, .argon2, .keyedScrypt]
        var auth = AuthCapabilities.all
        auth.customTokens = false
        auth.accountDeletion = false
        var features = AdminFeatures(capabilities, auth: auth)
        features.makesBareAccounts = false
        features.unconfirmsAddresses = false
        features.asksForConfirmation = true
        features.readsTokens = true
        features.hasWrongKeys = true
        return features
    }()

    var features: AdminFeatures { Self.features }

    private struct Missing: Error {}

    struct Site: Sendable {
        let supabase: LocalSupabase
        let transport = CurlTransport()

        func configuration(serviceKey: String?) -> SupabaseConfiguration {
            SupabaseConfiguration(
                url: supabase.server.url, key: Secret(supabase.anonKey), serviceKey: serviceKey.map { Secret($0) })
        }

        func factory(serviceKey: String?) async throws -> any ServerClientFactory {
            try await SupabaseModule(configuration(serviceKey: serviceKey), transport: { [transport] in transport })
                .makeServerClientFactory(ModuleContext())
        }
    }

    /// The project of all checks; each has people of its own there.
    static let site = Task { Site(supabase: try await LocalSupabase.onSharedPostgres()) }

    func makeAdminClient() async throws -> any AdminClient {
        let site = try await Self.site.value
        return try await site.factory(serviceKey: site.supabase.serviceKey).makeAdminClient()
    }

    func makeClientWithWrongKey() async throws -> any AdminClient {
        let site = try await Self.site.value
        return try await site.factory(serviceKey: FixedAuthClient.token(["role": "service_role"])).makeAdminClient()
    }

    func makeAuthClient() async throws -> any AuthClient {
        let site = try await Self.site.value
        return try await SupabaseModule(site.configuration(serviceKey: nil)).makeAuthClient(ModuleContext())
    }

    func claims(of token: AccessToken) async throws -> [String: DocumentValue] {
        guard let data = SupabaseGrant.claims(of: token.value.reveal())?["app_metadata"]?.object else {
            throw Missing()
        }
        return Dictionary(data.map { ($0.key, DocumentValue(postgres: $0.value)) }) { first, _ in first }
    }

    func resetCode(in link: URL) async throws -> Secret {
        let items = URLComponents(url: link, resolvingAgainstBaseURL: false)?.queryItems
        guard let token = items?.first(where: { $0.name == "token" })?.value else { throw Missing() }
        return Secret(token)
    }

    func openConfirmation(_ link: URL, for email: String) async throws {
        var request = HTTPRequest(.get, link.absoluteString)
        request.redirects = .surface
        guard try await Self.site.value.transport.send(request).status == 303 else { throw Missing() }
    }
}

@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SupabaseAdminConformanceTests {
    static let run = ConformanceRun("supabase admin", AdminConformance.all, for: SupabaseAdminHarness.features, part: 2)
    {
        SupabaseAdminHarness()
    }

    @Test(.beside(run), arguments: run.checks)
    func `Supabase's administration of accounts`(_ check: AdminCheck) async throws {
        try await Self.run.outcome(of: check)
    }

    @Test func `What Supabase's administration is spared`() {
        #expect(
            AdminConformance.leftOut(for: SupabaseAdminHarness.features) == [
                "an account is made of nothing at all", "an address stops being confirmed by hand",
                "ending sessions ends those of all devices, until the next sign-in",
                "ending one's sessions leaves everybody else's",
                "ending the sessions of somebody without one is no error", "who is not there has no sessions to end",
                "a custom token signs in as the one it was made for",
                "a custom token for somebody new makes the account",
                "claims of a custom token show in the session's tokens, and are not the account's",
                "a custom token for somebody disabled lets no one in", "a custom token that was altered is refused",
                "custom tokens for no one, or with claims that no token can hold, are refused",
                "a password that PBKDF2 has hashed lets in after the import", "a cancelled call ends no session",
                "a custom token does not show in texts",
            ])
    }
}

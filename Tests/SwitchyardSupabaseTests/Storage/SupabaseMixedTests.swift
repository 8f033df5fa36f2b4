import Switchyard
import SwitchyardConformance
import SwitchyardLocalSupabase
import SwitchyardMock
import SwitchyardServerKit
import SwitchyardTestRuns
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

extension SupabaseSite {
    /// Where everybody is the same person to the database, so that names in `users` are no one's.
    fileprivate static let nameless = Task {
        let site = try await shared.value
        try await site.postgres.query("insert into switchyard.rules values ('users', 'owner', 'owner')")
        return site
    }

    /// A module for people who are signed in elsewhere: each is exchanged for somebody who may see what the others write, as
    /// the checks want it.
    func module() throws -> SupabaseModule {
        let supabase = supabase
        return SupabaseModule(
            SupabaseConfiguration(
                url: supabase.server.url, key: Secret(supabase.anonKey), checkInterval: .milliseconds(25)),
            accountDeletion: nil,
            tokenExchange: TokenExchange { _, _ in (Secret(supabase.accessToken(for: "tester")), .distantFuture) })
    }
}

/// Documents on a real PostgreSQL, everything else on the mock; and the other way round.
private struct SupabaseSwitchingHarness: SwitchingHarness {
    let isFirst: Bool

    var features: SwitchingFeatures {
        let storage = SupabaseHarness.features.capabilities
        return isFirst
            ? SwitchingFeatures(first: .supabase, second: .mock, storage: storage)
            : SwitchingFeatures(first: .mock, second: .supabase, storage: storage)
    }

    /// The mock has auth and messaging throughout.
    var selection: InfrastructureSelection {
        var selection = InfrastructureSelection(default: .mock)
        selection.storage = features.first
        return selection
    }

    func makeFactory() async throws -> InfrastructureFactory {
        InfrastructureFactory(
            MockModule(backend: MockBackend()), try await SupabaseSite.nameless.value.module())
    }
}

/// Domain clients whose documents are on Supabase, under the rules for them; files are the mock's.
private struct SupabaseDomainHarness: DomainHarness {
    static let features = DomainFeatures(
        SupabaseHarness.features.capabilities, files: true, enforcesRules: true)

    private static let site = Task {
        let postgres = try await PostgresServer()
        var options = LocalSupabaseOptions()
        options.database = postgres.place
        options.scripts = [DocumentSchema.sql, DocumentSchema.domainRules]
        options.auth.autoconfirmsEmails = false
        return try await LocalSupabase(options)
    }

    /// Whether people sign in at the mock, and are exchanged; otherwise at the same Supabase, where their addresses are to
    /// be confirmed.
    let isMixed: Bool
    private let backend = MockBackend()
    var features: DomainFeatures { Self.features }

    init(isMixed: Bool) { self.isMixed = isMixed }

    func makeDomainDevice() async throws -> DomainDevice {
        let supabase = try await Self.site.value
        let module = SupabaseModule(
            SupabaseConfiguration(
                url: supabase.server.url, key: Secret(supabase.anonKey), checkInterval: .milliseconds(25)),
            accountDeletion: nil,
            tokenExchange: isMixed
                ? TokenExchange { session, _ in
                    (Secret(supabase.accessToken(for: session.userID)), .distantFuture)
                } : nil)
        let auth: any AuthClient =
            if isMixed { MockAuthClient(backend) } else { try await module.makeAuthClient(ModuleContext()) }
        return DomainDevice(
            CoreClients(
                auth: auth, storage: try await module.makeStorageClient(ModuleContext(auth: auth)),
                files: MockFileStorageClient(backend)))
    }

    func confirmEmail(_ email: String) async throws {
        let supabase = try await Self.site.value
        _ = try await supabase.database.run([
            PostgresStatement("update auth.users set email_confirmed_at = now() where email = $1", [email])
        ])
    }
}

@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SupabaseMixedTests {
    private static let switching = SupabaseSwitchingHarness(isFirst: true)
    static let away = ConformanceRun("supabase switching", SwitchingConformance.all, for: switching.features, part: 2) {
        switching
    }

    @Test(.beside(away), arguments: away.checks)
    func `Going over from Supabase to the mock`(_ check: SwitchingCheck) async throws {
        try await Self.away.outcome(of: check)
    }

    static let there = ConformanceRun(
        "supabase switching from the mock", SwitchingConformance.all, for: switching.features, part: 3
    ) {
        SupabaseSwitchingHarness(isFirst: false)
    }

    @Test(.beside(there), arguments: there.checks)
    func `Going over from the mock to Supabase`(_ check: SwitchingCheck) async throws {
        try await Self.there.outcome(of: check)
    }

    static let domain = ConformanceRun(
        "supabase domain", DomainConformance.all, for: SupabaseDomainHarness.features, part: 2
    ) {
        SupabaseDomainHarness(isMixed: true)
    }

    @Test(.beside(domain), arguments: domain.checks)
    func `The domain clients on Supabase, with the mock's auth`(_ check: DomainCheck) async throws {
        try await Self.domain.outcome(of: check)
    }

    static let own = ConformanceRun(
        "supabase domain and auth", DomainConformance.all, for: SupabaseDomainHarness.features, part: 3
    ) {
        SupabaseDomainHarness(isMixed: false)
    }

    @Test(.beside(own), arguments: own.checks)
    func `The domain clients on Supabase, with its auth and addresses to be confirmed`(
        _ check: DomainCheck
    ) async throws {
        try await Self.own.outcome(of: check)
    }

    @Test func `What is left out`() {
        #expect(
            SwitchingConformance.leftOut(for: Self.switching.features) == [
                "auth is exchanged too, and the state shows it"
            ])
        #expect(DomainConformance.leftOut(for: SupabaseDomainHarness.features) == [])
    }

    // MARK: Sessions of another provider, on the real database

    private func storage(_ auth: any AuthClient) async throws -> any StorageClient {
        let site = try await SupabaseSite.shared.value
        let module = SupabaseModule(
            SupabaseConfiguration(url: site.supabase.server.url, key: Secret(site.supabase.anonKey)))
        return try await module.makeStorageClient(ModuleContext(auth: auth))
    }

    @Test func `A session whose subject is no UUID owns what it writes, and others do not see it`() async throws {
        let site = try await SupabaseSite.shared.value
        let supabase = site.supabase
        let path = try StoragePath(validating: "thirdparty/\(UInt64.random(in: 0..<UInt64.max))")
        let ann = try await storage(
            FixedAuthClient(provider: "firebase", user: "Xy7-ann") { _ in supabase.accessToken(for: "Xy7-ann") })
        let bob = try await storage(
            FixedAuthClient(provider: "firebase", user: "Xy7-bob") { _ in supabase.accessToken(for: "Xy7-bob") })
        _ = try await ann.setDocument(path, ["n": 1]).acknowledged()
        #expect(try await ann.document(path, from: .server).data?["n"] == 1)
        #expect(try await !bob.document(path, from: .server).exists)
        let error = await #expect(throws: StorageError.self) {
            () async throws -> Void in _ = try await bob.setDocument(path, ["n": 2]).acknowledged()
        }
        #expect(error?.code == .unauthorized)
        await ann.shutDown()
        await bob.shutDown()
    }

    @Test func `A policy of the project's own that wants a UUID is named by its claim`() async throws {
        let site = try await SupabaseSite.shared.value
        try await site.postgres.query(
            """
            create or replace function public.who_am_i() returns uuid language sql stable as
              $$ select (current_setting('request.jwt.claims', true)::jsonb ->> 'sub')::uuid $$;
            """)
        let supabase = site.supabase
        let storage = try await storage(
            FixedAuthClient(provider: "firebase", user: "Xy7-ann") { _ in supabase.accessToken(for: "Xy7-ann") })
        let functions = try #require(storage.unwrapped(as: SupabaseStorageAdapter.self)?.functions)
        let error = await #expect(throws: StorageError.self) {
            () async throws -> Void in let _: String = try await functions.callDatabase("who_am_i")
        }
        #expect(error?.code == .unauthorized)
        #expect(error?.underlying as? SupabaseTokenProblem == .subjectIsNoUUID)
        await storage.shutDown()
    }
}

import Switchyard
import SwitchyardConformance
import SwitchyardFirebase
import SwitchyardMock
import SwitchyardSupabase
import SwitchyardTestRuns
import SwitchyardTestSupport
import Testing

/// People of one vendor with documents of the other, each on a server of its own.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct CrossedProvidersTests {
    private static let firebasePeople = CrossedSwitchingHarness(auth: .firebase)
    private static let supabasePeople = CrossedSwitchingHarness(auth: .supabase)
    static let switching = ConformanceRun(
        "crossed switching", SwitchingConformance.all, for: firebasePeople.features, part: 4
    ) {
        firebasePeople
    }

    @Test(.beside(switching), arguments: switching.checks)
    func `Firebase's people with documents on Supabase, which move to Firebase`(_ check: SwitchingCheck) async throws {
        try await Self.switching.outcome(of: check)
    }

    static let switchingBack = ConformanceRun(
        "crossed switching back", SwitchingConformance.all, for: supabasePeople.features, part: 4
    ) { supabasePeople }

    @Test(.beside(switchingBack), arguments: switchingBack.checks)
    func `Supabase's people with documents on Firebase, which move to Supabase`(_ check: SwitchingCheck) async throws {
        try await Self.switchingBack.outcome(of: check)
    }

    static let domain = ConformanceRun(
        "crossed domain", DomainConformance.all, for: CrossedDomainHarness(auth: .firebase).features, part: 4
    ) {
        CrossedDomainHarness(auth: .firebase)
    }

    @Test(.beside(domain), arguments: domain.checks)
    func `The domain clients with Firebase's auth and Supabase's documents`(_ check: DomainCheck) async throws {
        try await Self.domain.outcome(of: check)
    }

    static let domainBack = ConformanceRun(
        "crossed domain the other way", DomainConformance.all, for: CrossedDomainHarness(auth: .supabase).features,
        part: 4
    ) {
        CrossedDomainHarness(auth: .supabase)
    }

    @Test(.beside(domainBack), arguments: domainBack.checks)
    func `The domain clients with Supabase's auth and Firebase's documents`(_ check: DomainCheck) async throws {
        try await Self.domainBack.outcome(of: check)
    }

    // MARK: Whose documents they are

    private func infrastructure(
        _ backends: CrossedProviders, auth: InfrastructureProvider, storage: InfrastructureProvider
    ) async throws -> Infrastructure {
        var selection = InfrastructureSelection(default: .mock)
        selection.auth = auth
        selection.storage = storage
        return try await InfrastructureFactory(
            MockModule(backend: MockBackend()), backends.firebaseModule, backends.supabaseModule()
        ).make(selection)
    }

    private func expectOwnership(
        of path: (AuthUser) throws -> StoragePath, _ ann: Infrastructure, _ bob: Infrastructure
    ) async throws {
        let user = try await ann.auth.signUp(email: "ann@example.com", password: "correct horse 7 battery").get()
        try await bob.auth.signUp(email: "bob@example.com", password: "correct horse 7 battery")
        let mine = try path(user)
        try await ann.storage.setDocument(mine, ["owner": .string(user.id), "n": 1]).acknowledged()
        #expect(try await ann.storage.document(mine, from: .server)["n"] == 1)
        let refused = await #expect(throws: StorageError.self) {
            () async throws -> Void in
            _ = try await bob.storage.setDocument(mine, ["n": 2]).acknowledged()
        }
        #expect(refused?.code == .unauthorized)
        #expect(try await ann.storage.document(mine, from: .server)["n"] == 1)
        await ann.shutDown()
        await bob.shutDown()
    }

    @Test func `Who signed in at Firebase owns what they write on Supabase, by its policies`() async throws {
        let backends = try await CrossedProviders(isOpen: false)
        try await expectOwnership(
            of: { try StoragePath(validating: "notes/of-\($0.id)") },
            infrastructure(backends, auth: .firebase, storage: .supabase),
            infrastructure(backends, auth: .firebase, storage: .supabase))
        await backends.stop()
    }

    @Test func `Who signed in at Supabase owns what they write on Firebase, by its rules`() async throws {
        let backends = try await CrossedProviders(isOpen: false)
        try await expectOwnership(
            of: { try StoragePath(validating: "users/\($0.id)") },
            infrastructure(backends, auth: .supabase, storage: .firebase),
            infrastructure(backends, auth: .supabase, storage: .firebase))
        await backends.stop()
    }
}

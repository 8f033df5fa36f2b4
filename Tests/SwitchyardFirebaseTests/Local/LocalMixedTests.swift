import Switchyard
import SwitchyardConformance
import SwitchyardLocalFirebase
import SwitchyardMock
import SwitchyardServerKit
import SwitchyardTestRuns
import Testing

@testable import SwitchyardFirebase

/// A local Firebase beside the mock.
private struct LocalSwitchingHarness: SwitchingHarness {
    let site: LocalSite
    let isFirst: Bool

    static let storage = FirestoreHarness.features.capabilities
    static let fromFirebase = SwitchingFeatures(first: .firebase, second: .mock, storage: storage)
    static let fromMock = SwitchingFeatures(first: .mock, second: .firebase, storage: storage)

    var features: SwitchingFeatures { isFirst ? Self.fromFirebase : Self.fromMock }

    var selection: InfrastructureSelection {
        var selection = InfrastructureSelection(default: .mock)
        selection.storage = features.first
        return selection
    }

    func makeFactory() async throws -> InfrastructureFactory {
        InfrastructureFactory(MockModule(backend: MockBackend()), FirebaseModule(site.configuration))
    }
}

/// Devices all of whose clients are Firebase's, as an app has them, under the rules for these clients.
private struct LocalDomainHarness: DomainHarness {
    static let features = DomainFeatures(
        FirestoreHarness.features.capabilities, files: true, enforcesRules: true)

    let site: LocalSite
    var features: DomainFeatures { Self.features }

    func makeDomainDevice() async throws -> DomainDevice {
        var configuration = site.configuration
        configuration.bucket = "demo.appspot.com"
        configuration.emulators.auth = site.firebase.host
        configuration.emulators.storage = site.firebase.host
        let module = FirebaseModule(configuration)
        let auth = try await module.makeAuthClient(ModuleContext())
        let context = ModuleContext(auth: auth)
        return DomainDevice(
            CoreClients(
                auth: auth, storage: try await module.makeStorageClient(context),
                files: try await module.makeFileStorageClient(context)))
    }
}

/// The checks of mixed and exchanged providers, and of the clients above them, on a local Firebase.
@Suite struct LocalMixedTests {
    private static let away = ConformanceRun(
        "local firestore switching", SwitchingConformance.all, for: LocalSwitchingHarness.fromFirebase, part: 3
    ) { check in
        try await with(LocalSite()) { try await check(LocalSwitchingHarness(site: $0, isFirst: true)) }
    }

    private static let there = ConformanceRun(
        "switching to a local firestore", SwitchingConformance.all, for: LocalSwitchingHarness.fromMock, part: 3
    ) { check in
        try await with(LocalSite()) { try await check(LocalSwitchingHarness(site: $0, isFirst: false)) }
    }

    private static let domain = ConformanceRun(
        "local firebase domain", DomainConformance.all, for: LocalDomainHarness.features, part: 2
    ) { check in
        var options = LocalFirebaseOptions()
        options.hasDomainRules = true
        try await with(LocalSite(options, isOpen: false)) { try await check(LocalDomainHarness(site: $0)) }
    }

    private static func with(_ site: LocalSite, _ body: (LocalSite) async throws -> Void) async throws {
        do {
            try await body(site)
        } catch {
            await site.firebase.stop()
            throw error
        }
        await site.firebase.stop()
    }

    @Test(.beside(away), arguments: away.checks)
    func `Going over from a local Firestore to the mock`(_ check: SwitchingCheck) async throws {
        try await Self.away.outcome(of: check)
    }

    @Test(.beside(there), arguments: there.checks)
    func `Going over from the mock to a local Firestore`(_ check: SwitchingCheck) async throws {
        try await Self.there.outcome(of: check)
    }

    @Test(.beside(domain), arguments: domain.checks)
    func `The domain clients on a local Firebase, with its auth and its files`(_ check: DomainCheck) async throws {
        try await Self.domain.outcome(of: check)
    }
}

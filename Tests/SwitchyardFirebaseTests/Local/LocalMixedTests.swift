import Switchyard
import SwitchyardConformance
import SwitchyardLocalFirebase
import SwitchyardMock
import SwitchyardServerKit
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
    static let switchingTally = ConformanceTally(
        "local firestore switching", SwitchingConformance.all, for: LocalSwitchingHarness.fromFirebase)

    @Test(arguments: SwitchingConformance.checks(for: LocalSwitchingHarness.fromFirebase))
    func `Going over from a local Firestore to the mock`(_ check: SwitchingCheck) async throws {
        let site = try LocalSite()
        try await Self.switchingTally.run(check, on: LocalSwitchingHarness(site: site, isFirst: true))
        await site.firebase.stop()
    }

    @Test(arguments: SwitchingConformance.checks(for: LocalSwitchingHarness.fromMock))
    func `Going over from the mock to a local Firestore`(_ check: SwitchingCheck) async throws {
        let site = try LocalSite()
        try await check.run(on: LocalSwitchingHarness(site: site, isFirst: false))
        await site.firebase.stop()
    }

    static let domainTally = ConformanceTally(
        "local firebase domain", DomainConformance.all, for: LocalDomainHarness.features)

    @Test(arguments: DomainConformance.checks(for: LocalDomainHarness.features))
    func `The domain clients on a local Firebase, with its auth and its files`(_ check: DomainCheck) async throws {
        var options = LocalFirebaseOptions()
        options.hasDomainRules = true
        let site = try LocalSite(options, isOpen: false)
        try await Self.domainTally.run(check, on: LocalDomainHarness(site: site))
        await site.firebase.stop()
    }
}

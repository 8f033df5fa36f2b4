import Switchyard
import SwitchyardConformance
import SwitchyardLocalFirebase
import SwitchyardMock
import SwitchyardServerKit
import SwitchyardTestRuns
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// Documents on the real Firestore emulator, everything else on the mock; and the other way round.
private struct FirestoreSwitchingHarness: SwitchingHarness {
    let isFirst: Bool

    var features: SwitchingFeatures {
        let storage = FirestoreHarness.features.capabilities
        return isFirst
            ? SwitchingFeatures(first: .firebase, second: .mock, storage: storage)
            : SwitchingFeatures(first: .mock, second: .firebase, storage: storage)
    }

    var selection: InfrastructureSelection {
        var selection = InfrastructureSelection(default: .mock)
        selection.storage = features.first
        return selection
    }

    func makeFactory() async throws -> InfrastructureFactory {
        InfrastructureFactory(
            MockModule(backend: MockBackend()), FirebaseModule(try await FirestoreSite().configuration))
    }
}

/// Domain clients whose documents are on the emulator, under the rules that are shipped for them. It knows people by the tokens
/// of a local Firebase; files are the mock's.
private struct FirestoreDomainHarness: DomainHarness {
    static let features = DomainFeatures(
        FirestoreHarness.features.capabilities, files: true, enforcesRules: true)

    let site: FirestoreSite
    let people: LocalFirebase
    private let backend = MockBackend()
    var features: DomainFeatures { Self.features }

    init() async throws {
        site = try await FirestoreSite()
        try await site.publish(FirestoreRules.domain)
        var options = LocalFirebaseOptions()
        options.project = site.configuration.project
        people = try LocalFirebase(options)
    }

    func makeDomainDevice() async throws -> DomainDevice {
        var configuration = site.configuration
        configuration.emulators.auth = people.host
        let auth = try await FirebaseModule(configuration, environment: [:]) { CurlTransport() }
            .makeAuthClient(ModuleContext())
        return DomainDevice(
            CoreClients(
                auth: auth, storage: try await site.client(ModuleContext(auth: auth)),
                files: MockFileStorageClient(backend)))
    }
}

@Suite(.enabled(if: FirestoreEmulator.isInstalled, "the Firestore emulator is not installed"))
struct FirestoreMixedTests {
    private static let switching = FirestoreSwitchingHarness(isFirst: true)
    static let away = ConformanceRun(
        "firestore emulator switching", SwitchingConformance.all, for: switching.features, part: 2
    ) { switching }

    @Test(.beside(away), arguments: away.checks)
    func `Going over from Firestore to the mock`(_ check: SwitchingCheck) async throws {
        try await Self.away.outcome(of: check)
    }

    static let there = ConformanceRun(
        "firestore emulator switching from the mock", SwitchingConformance.all, for: switching.features, part: 3
    ) {
        FirestoreSwitchingHarness(isFirst: false)
    }

    @Test(.beside(there), arguments: there.checks)
    func `Going over from the mock to Firestore`(_ check: SwitchingCheck) async throws {
        try await Self.there.outcome(of: check)
    }

    static let domain = ConformanceRun(
        "firestore emulator domain", DomainConformance.all, for: FirestoreDomainHarness.features, part: 2
    ) { check in
        let harness = try await FirestoreDomainHarness()
        do {
            try await check(harness)
        } catch {
            await harness.people.stop()
            throw error
        }
        await harness.people.stop()
    }

    @Test(.beside(domain), arguments: domain.checks)
    func `The domain clients on Firestore, under the rules for them`(_ check: DomainCheck) async throws {
        try await Self.domain.outcome(of: check)
    }

    @Test func `What is left out`() {
        #expect(
            SwitchingConformance.leftOut(for: Self.switching.features) == [
                "auth is exchanged too, and the state shows it"
            ])
        #expect(DomainConformance.leftOut(for: FirestoreDomainHarness.features) == [])
    }
}

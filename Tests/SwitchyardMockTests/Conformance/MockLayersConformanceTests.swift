import SwitchyardConformance
import SwitchyardMock
import SwitchyardTestRuns
import Testing

@testable import Switchyard

/// A layer that forgets to pass something on would show here: wrapped clients keep the whole meaning.
@Suite struct MockLayersConformanceTests {
    static let layered = LayeredHarness()
    static let switchable = SwitchableHarness()
    static let layeredRun = ConformanceRun(
        "mock storage in layers", StorageConformance.all, for: layered.features, part: 4
    ) {
        layered
    }

    @Test(.beside(layeredRun), arguments: layeredRun.checks)
    func `Storage that is observed and retried`(_ check: StorageCheck) async throws {
        try await Self.layeredRun.outcome(of: check)
    }

    static let switchableRun = ConformanceRun(
        "mock storage that can be exchanged", StorageConformance.all, for: switchable.features, part: 4
    ) { switchable }

    @Test(.beside(switchableRun), arguments: switchableRun.checks)
    func `Storage that can be exchanged`(_ check: StorageCheck) async throws {
        try await Self.switchableRun.outcome(of: check)
    }

    static let auth = MockAuthHarness { $0.retrying().observed(by: SilentObserver()) }
    static let files = MockFileHarness { $0.retrying().observed(by: SilentObserver()) }
    static let messaging = MockMessagingHarness { $0.retrying().observed(by: SilentObserver()) }

    static let authRun = ConformanceRun("mock auth in layers", AuthConformance.all, for: auth.features, part: 4) {
        auth
    }

    @Test(.beside(authRun), arguments: authRun.checks)
    func `Auth that is observed and retried`(_ check: AuthCheck) async throws {
        try await Self.authRun.outcome(of: check)
    }

    static let filesRun = ConformanceRun("mock files in layers", FileConformance.all, for: files.features, part: 4) {
        files
    }

    @Test(.beside(filesRun), arguments: filesRun.checks)
    func `Files that are observed and retried`(_ check: FileCheck) async throws {
        try await Self.filesRun.outcome(of: check)
    }

    static let messagingRun = ConformanceRun(
        "mock messaging in layers", MessagingConformance.all, for: messaging.features, part: 4
    ) { messaging }

    @Test(.beside(messagingRun), arguments: messagingRun.checks)
    func `Messaging that is observed and retried`(_ check: MessagingCheck) async throws {
        try await Self.messagingRun.outcome(of: check)
    }

    static let switchableAuth = MockAuthHarness { Routed<any AuthClient>(Route(Switchboard($0))) }
    static let switchableFiles = MockFileHarness { Routed<any FileStorageClient>(Route(Switchboard($0))) }
    static let switchableMessaging = MockMessagingHarness { Routed<any MessagingClient>(Route(Switchboard($0))) }
    static let switchableDomain = SwitchableDomainHarness()

    static let switchableAuthRun = ConformanceRun(
        "mock auth that can be exchanged", AuthConformance.all, for: switchableAuth.features, part: 4
    ) { switchableAuth }

    @Test(.beside(switchableAuthRun), arguments: switchableAuthRun.checks)
    func `Auth that can be exchanged`(_ check: AuthCheck) async throws {
        try await Self.switchableAuthRun.outcome(of: check)
    }

    static let switchableFilesRun = ConformanceRun(
        "mock files that can be exchanged", FileConformance.all, for: switchableFiles.features, part: 4
    ) { switchableFiles }

    @Test(.beside(switchableFilesRun), arguments: switchableFilesRun.checks)
    func `Files that can be exchanged`(_ check: FileCheck) async throws {
        try await Self.switchableFilesRun.outcome(of: check)
    }

    static let switchableMessagingRun = ConformanceRun(
        "mock messaging that can be exchanged", MessagingConformance.all, for: switchableMessaging.features, part: 4
    ) { switchableMessaging }

    @Test(.beside(switchableMessagingRun), arguments: switchableMessagingRun.checks)
    func `Messaging that can be exchanged`(_ check: MessagingCheck) async throws {
        try await Self.switchableMessagingRun.outcome(of: check)
    }

    static let switchableDomainRun = ConformanceRun(
        "mock domain that can be exchanged", DomainConformance.all, for: switchableDomain.features, part: 4
    ) { switchableDomain }

    @Test(.beside(switchableDomainRun), arguments: switchableDomainRun.checks)
    func `Domain clients that can be exchanged`(_ check: DomainCheck) async throws {
        try await Self.switchableDomainRun.outcome(of: check)
    }

    /// All clients of an infrastructure; a module is one device.
    struct SwitchableDomainHarness: DomainHarness {
        let features = DomainFeatures(.all, files: true, enforcesRules: true)
        private let project = MockBackend(rules: .domain)

        func makeDomainDevice() async throws -> DomainDevice {
            let factory = InfrastructureFactory(MockModule(backend: project))
            let backend = try await factory.make(InfrastructureSelection(default: .mock))
            return DomainDevice(
                CoreClients(
                    auth: backend.auth, storage: backend.storage, files: backend.files, messaging: backend.messaging),
                users: backend.users, contacts: backend.contacts, checkIns: backend.checkIns,
                notifications: backend.notifications)
        }
    }

    struct LayeredHarness: StorageHarness {
        let features = StorageFeatures(.all)
        private let backend = MockBackend()
        func makeStorageClient() async throws -> any StorageClient {
            MockStorageClient(backend).retrying().observed(by: SilentObserver())
        }
    }

    struct SwitchableHarness: StorageHarness {
        let features = StorageFeatures(.all)
        private let factory = InfrastructureFactory(MockModule(backend: MockBackend()))
        func makeStorageClient() async throws -> any StorageClient {
            try await factory.make(InfrastructureSelection(default: .mock)).storage
        }
    }
}

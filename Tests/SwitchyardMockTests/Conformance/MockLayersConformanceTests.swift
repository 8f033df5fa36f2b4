import SwitchyardConformance
import SwitchyardMock
import SwitchyardMockHarness
import Testing

@testable import Switchyard

/// A layer that forgets to pass something on would show here: wrapped clients keep the whole meaning.
@Suite struct MockLayersConformanceTests {
    static let layered = LayeredHarness()
    static let switchable = SwitchableHarness()
    static let tally = ConformanceTally("mock storage in layers", StorageConformance.all, for: layered.features)

    @Test(arguments: StorageConformance.checks(for: layered.features))
    func `Storage that is observed and retried`(_ check: StorageCheck) async throws {
        try await Self.tally.run(check, on: Self.layered)
    }

    @Test(arguments: StorageConformance.checks(for: switchable.features))
    func `Storage that can be exchanged`(_ check: StorageCheck) async throws {
        try await check.run(on: Self.switchable)
    }

    static let auth = MockAuthHarness { $0.retrying().observed(by: SilentObserver()) }
    static let files = MockFileHarness { $0.retrying().observed(by: SilentObserver()) }
    static let messaging = MockMessagingHarness { $0.retrying().observed(by: SilentObserver()) }

    @Test(arguments: AuthConformance.checks(for: auth.features))
    func `Auth that is observed and retried`(_ check: AuthCheck) async throws { try await check.run(on: Self.auth) }

    @Test(arguments: FileConformance.checks(for: files.features))
    func `Files that are observed and retried`(_ check: FileCheck) async throws { try await check.run(on: Self.files) }

    @Test(arguments: MessagingConformance.checks(for: messaging.features))
    func `Messaging that is observed and retried`(_ check: MessagingCheck) async throws {
        try await check.run(on: Self.messaging)
    }

    static let switchableAuth = MockAuthHarness { Routed<any AuthClient>(LeasedRoute(Switchboard($0))) }
    static let switchableFiles = MockFileHarness { Routed<any FileStorageClient>(LeasedRoute(Switchboard($0))) }
    static let switchableMessaging = MockMessagingHarness { Routed<any MessagingClient>(LeasedRoute(Switchboard($0))) }
    static let switchableDomain = SwitchableDomainHarness()

    @Test(arguments: AuthConformance.checks(for: switchableAuth.features))
    func `Auth that can be exchanged`(_ check: AuthCheck) async throws { try await check.run(on: Self.switchableAuth) }

    @Test(arguments: FileConformance.checks(for: switchableFiles.features))
    func `Files that can be exchanged`(_ check: FileCheck) async throws {
        try await check.run(on: Self.switchableFiles)
    }

    @Test(arguments: MessagingConformance.checks(for: switchableMessaging.features))
    func `Messaging that can be exchanged`(_ check: MessagingCheck) async throws {
        try await check.run(on: Self.switchableMessaging)
    }

    @Test(arguments: DomainConformance.checks(for: switchableDomain.features))
    func `Domain clients that can be exchanged`(_ check: DomainCheck) async throws {
        try await check.run(on: Self.switchableDomain)
    }

    /// All clients of an infrastructure; a module is one device.
    struct SwitchableDomainHarness: DomainHarness {
        let features = DomainFeatures(.all, files: true)
        private let project = MockBackend()

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

import Switchyard
import SwitchyardConformance
import SwitchyardMock
import SwitchyardTestRuns
import Testing

/// Mocks that declare as little as possible: what is not declared is refused, and everything else works all the same.
@Suite struct MockRefusalTests {
    static let storage = MockStorageHarness(.little)
    static let auth = MockAuthHarness(AuthCapabilities())
    static let files = LittleFiles()
    static let messaging = LittleMessaging()

    static let storageRun = ConformanceRun(
        "little mock storage", StorageConformance.all, for: storage.features, part: 4
    ) {
        storage
    }

    @Test(.beside(storageRun), arguments: storageRun.checks)
    func `A storage with few capabilities`(_ check: StorageCheck) async throws {
        try await Self.storageRun.outcome(of: check)
    }

    static let authRun = ConformanceRun("little mock auth", AuthConformance.all, for: auth.features, part: 4) { auth }

    @Test(.beside(authRun), arguments: authRun.checks)
    func `An auth client with few capabilities`(_ check: AuthCheck) async throws {
        try await Self.authRun.outcome(of: check)
    }

    static let filesRun = ConformanceRun("little mock files", FileConformance.all, for: files.features, part: 4) {
        files
    }

    @Test(.beside(filesRun), arguments: filesRun.checks)
    func `A file storage with few capabilities`(_ check: FileCheck) async throws {
        try await Self.filesRun.outcome(of: check)
    }

    static let messagingRun = ConformanceRun(
        "little mock messaging", MessagingConformance.all, for: messaging.features, part: 4
    ) { messaging }

    @Test(.beside(messagingRun), arguments: messagingRun.checks)
    func `A messaging client with few capabilities`(_ check: MessagingCheck) async throws {
        try await Self.messagingRun.outcome(of: check)
    }

    struct LittleFiles: FileHarness {
        let features = FileFeatures(FileStorageCapabilities())
        private let backend = MockBackend()
        func makeFileClient() async throws -> any FileStorageClient {
            MockFileStorageClient(backend, capabilities: features.capabilities)
        }
    }

    struct LittleMessaging: MessagingHarness {
        let features = MessagingFeatures(MessagingCapabilities())
        private let backend = MockBackend()
        func makeMessagingClient() async throws -> any MessagingClient {
            MockMessagingClient(backend, capabilities: features.capabilities)
        }
        func payload(_ message: RemoteMessage) throws -> RemotePayload { backend.messages.payload(of: message) }
    }
}

extension StorageCapabilities {
    /// Nothing but what a mock cannot help having: it holds any value in any place.
    fileprivate static var little: StorageCapabilities {
        var little = StorageCapabilities()
        little.openSchema = true
        little.openTypes = true
        little.maximumBatchSize = 7
        return little
    }
}

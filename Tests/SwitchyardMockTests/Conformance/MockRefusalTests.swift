import Switchyard
import SwitchyardConformance
import SwitchyardMock
import SwitchyardMockHarness
import Testing

/// Mocks that declare as little as possible: what is not declared is refused, and everything else works all the same.
@Suite struct MockRefusalTests {
    static let storage = MockStorageHarness(.little)
    static let auth = MockAuthHarness(AuthCapabilities())
    static let files = LittleFiles()
    static let messaging = LittleMessaging()

    @Test(arguments: StorageConformance.checks(for: storage.features))
    func `A storage with few capabilities`(_ check: StorageCheck) async throws { try await check.run(on: Self.storage) }

    @Test(arguments: AuthConformance.checks(for: auth.features))
    func `An auth client with few capabilities`(_ check: AuthCheck) async throws { try await check.run(on: Self.auth) }

    @Test(arguments: FileConformance.checks(for: files.features))
    func `A file storage with few capabilities`(_ check: FileCheck) async throws { try await check.run(on: Self.files) }

    @Test(arguments: MessagingConformance.checks(for: messaging.features))
    func `A messaging client with few capabilities`(_ check: MessagingCheck) async throws {
        try await check.run(on: Self.messaging)
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

package import Switchyard
import SwitchyardMock

/// One project for all checks, each of which uses a separate namespace.
package struct MockStorageHarness: StorageHarness {
    package let features: StorageFeatures
    private let backend = MockBackend()

    package init(_ capabilities: StorageCapabilities = .all) { features = StorageFeatures(capabilities) }

    package func makeStorageClient() async throws -> any StorageClient {
        MockStorageClient(backend, capabilities: features.capabilities)
    }
}

package import Foundation
package import Switchyard
package import SwitchyardConformance
import SwitchyardMock
import Synchronization

/// One project with many devices; a connection is cut by failing every part of an upload after so many.
package final class MockFileHarness: FileHarness {
    package let features: FileFeatures
    private let backend = MockBackend()
    private let stores = Mutex<[ObjectIdentifier: MockUploadStore]>([:])
    private static let partSize = 256 << 10

    package init() {
        var features = FileFeatures(.all)
        features.fetchesURLs = true
        features.keepsUploads = true
        self.features = features
    }

    package func makeFileClient() async throws -> any FileStorageClient { make(MockUploadStore()) }

    package func reopen(_ client: any FileStorageClient) async throws -> any FileStorageClient {
        let store = (client as? MockFileStorageClient).flatMap { one in stores.withLock { $0[ObjectIdentifier(one)] } }
        return make(store ?? MockUploadStore())
    }

    private func make(_ store: MockUploadStore) -> MockFileStorageClient {
        let client = MockFileStorageClient(backend, store: store, partSize: Self.partSize)
        stores.withLock { $0[ObjectIdentifier(client)] = store }
        return client
    }

    package func fetch(_ url: URL) async throws -> Data? { backend.files.contents(of: url) }

    package func cutOff(_ client: any FileStorageClient, afterBytes count: Int64) async throws {
        (client as? MockFileStorageClient)?.controls.fail(
            .uploadPart, onCall: Int(count) / Self.partSize, times: 1_000_000,
            with: FileStorageError(.unavailable, "The connection is cut."))
    }
}

package import Foundation
package import Switchyard
import SwitchyardMock
import Synchronization

/// One project with many devices. A connection is cut by failing all parts of an upload after a number of bytes.
package final class MockFileHarness: FileHarness {
    package let features: FileFeatures
    private let backend = MockBackend()
    private let stores = Mutex<[ObjectIdentifier: MockUploadStore]>([:])
    private let around: @Sendable (any FileStorageClient) -> any FileStorageClient
    private static let partSize = 256 << 10

    /// - Parameter around: Adds layers to each client.
    package init(around: @escaping @Sendable (any FileStorageClient) -> any FileStorageClient = { $0 }) {
        self.around = around
        var features = FileFeatures(.all)
        features.fetchesURLs = true
        features.keepsUploads = true
        self.features = features
    }

    package func makeFileClient() async throws -> any FileStorageClient { make(MockUploadStore()) }

    package func reopen(_ client: any FileStorageClient) async throws -> any FileStorageClient {
        let store = client.unwrapped(as: MockFileStorageClient.self).flatMap { one in
            stores.withLock { $0[ObjectIdentifier(one)] }
        }
        return make(store ?? MockUploadStore())
    }

    private func make(_ store: MockUploadStore) -> any FileStorageClient {
        let client = MockFileStorageClient(backend, store: store, partSize: Self.partSize)
        stores.withLock { $0[ObjectIdentifier(client)] = store }
        return around(client)
    }

    package func fetch(_ url: URL) async throws -> Data? { backend.files.contents(of: url) }

    package func cutOff(_ client: any FileStorageClient, afterBytes count: Int64) async throws {
        client.unwrapped(as: MockFileStorageClient.self)?.controls.fail(
            .uploadPart, onCall: Int(count) / Self.partSize, times: 1_000_000,
            with: FileStorageError(.unavailable, "The connection is cut."))
    }
}

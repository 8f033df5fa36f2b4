import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardMock
import Synchronization
import Testing

/// One project with many devices; a connection is cut by failing every part of an upload after so many.
final class MockFileHarness: FileHarness {
    let features: FileFeatures
    private let backend = MockBackend()
    private let stores = Mutex<[ObjectIdentifier: MockUploadStore]>([:])
    private static let partSize = 256 << 10

    init() {
        var features = FileFeatures(.all)
        features.fetchesURLs = true
        features.keepsUploads = true
        self.features = features
    }

    func makeFileClient() async throws -> any FileStorageClient { make(MockUploadStore()) }

    func reopen(_ client: any FileStorageClient) async throws -> any FileStorageClient {
        let store = (client as? MockFileStorageClient).flatMap { one in stores.withLock { $0[ObjectIdentifier(one)] } }
        return make(store ?? MockUploadStore())
    }

    private func make(_ store: MockUploadStore) -> MockFileStorageClient {
        let client = MockFileStorageClient(backend, store: store, partSize: Self.partSize)
        stores.withLock { $0[ObjectIdentifier(client)] = store }
        return client
    }

    func fetch(_ url: URL) async throws -> Data? { backend.files.contents(of: url) }

    func cutOff(_ client: any FileStorageClient, afterBytes count: Int64) async throws {
        (client as? MockFileStorageClient)?.controls.fail(
            .uploadPart, onCall: Int(count) / Self.partSize, times: 1_000_000,
            with: FileStorageError(.unavailable, "The connection is cut."))
    }
}

@Suite struct MockFileConformanceTests {
    static let harness = MockFileHarness()
    static let tally = ConformanceTally("mock files", FileConformance.all, for: harness.features)

    @Test(arguments: FileConformance.checks(for: harness.features))
    func `The mock's file storage`(_ check: FileCheck) async throws {
        try await Self.tally.run(check, on: Self.harness)
    }

    @Test func `The mock is spared only what no mock can show`() {
        #expect(
            FileConformance.leftOut(for: Self.harness.features) == [
                "a file above the bound is refused", "a file that rules forbid cannot be read",
            ])
    }
}

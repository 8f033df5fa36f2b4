import Switchyard
import SwitchyardConformance
import SwitchyardMock
import Testing

private struct MockStorageHarness: StorageHarness {
    let features = StorageFeatures(.all)
    let backend = MockBackend()
    func makeStorageClient() async throws -> any StorageClient { MockStorageClient(backend) }
}

@Suite struct MockStorageConformanceTests {
    private static let harness = MockStorageHarness()

    @Test(arguments: StorageConformance.checks(for: harness.features))
    func `The mock keeps the meaning of storage`(_ check: StorageCheck) async throws {
        try await check.run(on: MockStorageConformanceTests.harness)
    }
}

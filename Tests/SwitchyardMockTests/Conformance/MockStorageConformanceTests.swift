import Switchyard
import SwitchyardConformance
import SwitchyardMock
import Testing

/// One project for all checks: each keeps to a namespace of its own.
struct MockStorageHarness: StorageHarness {
    let features: StorageFeatures
    private let backend = MockBackend()

    init(_ capabilities: StorageCapabilities = .all) { features = StorageFeatures(capabilities) }

    func makeStorageClient() async throws -> any StorageClient {
        MockStorageClient(backend, capabilities: features.capabilities)
    }
}

@Suite struct MockStorageConformanceTests {
    static let harness = MockStorageHarness()
    static let tally = ConformanceTally("mock storage", StorageConformance.all, for: harness.features)

    @Test(arguments: StorageConformance.checks(for: harness.features))
    func `The mock's storage`(_ check: StorageCheck) async throws {
        try await Self.tally.run(check, on: Self.harness)
    }

    @Test func `The mock is spared only what no mock can show`() {
        #expect(
            StorageConformance.leftOut(for: Self.harness.features) == [
                "a batch above the bound is refused and leaves nothing",
                "a document that rules forbid ends its stream for good", "a document that rules forbid cannot be read",
            ])
    }
}

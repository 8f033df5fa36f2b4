import Switchyard
import SwitchyardConformance
import Testing

@Suite struct MockStorageConformanceTests {
    static let harness = MockStorageHarness()
    static let tally = ConformanceTally("mock storage", StorageConformance.all, for: harness.features)

    @Test(arguments: StorageConformance.checks(for: harness.features))
    func `The mock's storage`(_ check: StorageCheck) async throws {
        try await Self.tally.run(check, on: Self.harness)
    }

    @Test func `The mock skips only what no mock can show`() {
        #expect(
            StorageConformance.leftOut(for: Self.harness.features) == [
                "a batch above the bound is refused and leaves nothing",
                "a document that rules forbid ends its stream for good", "a document that rules forbid cannot be read",
            ])
    }
}

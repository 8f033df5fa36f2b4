import Switchyard
import SwitchyardConformance
import SwitchyardMockHarness
import Testing

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

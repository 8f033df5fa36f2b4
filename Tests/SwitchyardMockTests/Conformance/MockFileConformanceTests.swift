import Switchyard
import SwitchyardConformance
import SwitchyardTestRuns
import Testing

@Suite struct MockFileConformanceTests {
    static let harness = MockFileHarness()
    static let run = ConformanceRun("mock files", FileConformance.all, for: harness.features) { harness }

    @Test(.beside(run), arguments: run.checks)
    func `The mock's file storage`(_ check: FileCheck) async throws { try await Self.run.outcome(of: check) }

    @Test func `The mock skips only what no mock can show`() {
        #expect(
            FileConformance.leftOut(for: Self.harness.features) == [
                "a file above the bound is refused", "a file that rules forbid cannot be read",
            ])
    }
}

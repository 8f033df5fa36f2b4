import Switchyard
import SwitchyardConformance
import Testing

@Suite struct MockSwitchingConformanceTests {
    static let harness = MockSwitchingHarness()
    static let tally = ConformanceTally("mock switching", SwitchingConformance.all, for: harness.features)

    @Test(arguments: SwitchingConformance.checks(for: harness.features))
    func `Going over between mocks`(_ check: SwitchingCheck) async throws {
        try await Self.tally.run(check, on: Self.harness)
    }

    @Test func `Nothing is left out`() {
        #expect(SwitchingConformance.leftOut(for: Self.harness.features) == [])
    }
}

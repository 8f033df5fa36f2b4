import Switchyard
import SwitchyardConformance
import SwitchyardMock
import Testing

@Suite struct MockAuthConformanceTests {
    static let harness = MockAuthHarness()
    static let tally = ConformanceTally("mock auth", AuthConformance.all, for: harness.features)

    @Test(arguments: AuthConformance.checks(for: harness.features))
    func `The mock's auth`(_ check: AuthCheck) async throws { try await Self.tally.run(check, on: Self.harness) }
}

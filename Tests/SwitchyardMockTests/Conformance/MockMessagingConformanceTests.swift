import Switchyard
import SwitchyardConformance
import Testing

@Suite struct MockMessagingConformanceTests {
    static let harness = MockMessagingHarness()
    static let tally = ConformanceTally("mock messaging", MessagingConformance.all, for: harness.features)

    @Test(arguments: MessagingConformance.checks(for: harness.features))
    func `The mock's messaging`(_ check: MessagingCheck) async throws {
        try await Self.tally.run(check, on: Self.harness)
    }

    @Test func `The mock skips only what needs a platform`() {
        #expect(
            MessagingConformance.leftOut(for: Self.harness.features) == [
                "without the platform's token there is none"
            ])
    }
}

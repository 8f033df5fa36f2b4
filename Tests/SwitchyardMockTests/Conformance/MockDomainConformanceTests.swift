import Switchyard
import SwitchyardConformance
import Testing

@Suite struct MockDomainConformanceTests {
    static let harness = MockDomainHarness()
    static let tally = ConformanceTally("mock domain", DomainConformance.all, for: harness.features)

    @Test(arguments: DomainConformance.checks(for: harness.features))
    func `The domain clients on the mock`(_ check: DomainCheck) async throws {
        try await Self.tally.run(check, on: Self.harness)
    }

    static let asking = MockDomainHarness(asksForConfirmation: true)

    @Test(arguments: DomainConformance.checks(for: asking.features))
    func `The domain clients on the mock, with addresses to be confirmed`(_ check: DomainCheck) async throws {
        try await check.run(on: Self.asking)
    }

    @Test func `Nothing is left out`() {
        #expect(DomainConformance.leftOut(for: Self.harness.features) == [])
    }
}

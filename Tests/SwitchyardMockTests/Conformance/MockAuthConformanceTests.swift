import Switchyard
import SwitchyardConformance
import SwitchyardMockHarness
import Testing

@Suite struct MockAuthConformanceTests {
    static let harness = MockAuthHarness()
    static let tally = ConformanceTally("mock auth", AuthConformance.all, for: harness.features)

    @Test(arguments: AuthConformance.checks(for: harness.features))
    func `The mock's auth`(_ check: AuthCheck) async throws { try await Self.tally.run(check, on: Self.harness) }

    @Test func `Only what moves the clock is left to a suite of its own`() {
        #expect(AuthConformance.leftOut(for: Self.harness.features) == MockAgeingTests.checks.map(\.name))
    }
}

/// One clock for all devices: one check at a time may move it.
@Suite(.serialized) struct MockAgeingTests {
    static let harness = MockAuthHarness(time: TestTime().movable)
    static let checks = AuthConformance.checks(for: harness.features).filter { check in
        check.requirements.contains { $0.name == "tokens that run out" }
    }

    @Test(arguments: checks)
    func `The mock's auth, as time goes by`(_ check: AuthCheck) async throws { try await check.run(on: Self.harness) }
}

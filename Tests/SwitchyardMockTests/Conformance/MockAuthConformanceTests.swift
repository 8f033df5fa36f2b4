import Switchyard
import SwitchyardConformance
import Testing

@Suite struct MockAuthConformanceTests {
    static let harness = MockAuthHarness()
    static let tally = ConformanceTally("mock auth", AuthConformance.all, for: harness.features)

    @Test(arguments: AuthConformance.checks(for: harness.features))
    func `The mock's auth`(_ check: AuthCheck) async throws { try await Self.tally.run(check, on: Self.harness) }

    @Test func `Only what moves the clock, and mails that are waited for, are left to suites of their own`() {
        let others = Set(MockAgeingTests.checks.map(\.name) + MockConfirmationTests.own.map(\.name))
        #expect(Set(AuthConformance.leftOut(for: Self.harness.features)) == others)
    }
}

/// Where new accounts and new addresses wait for their mail, as hosted projects begin.
@Suite struct MockConfirmationTests {
    static let harness = MockAuthHarness(asksForConfirmation: true)
    static let own = AuthConformance.all.filter { $0.area == "confirmations" }

    @Test(arguments: AuthConformance.checks(for: harness.features))
    func `The mock's auth, with addresses to be confirmed`(_ check: AuthCheck) async throws {
        try await check.run(on: Self.harness)
    }

    @Test func `Only what moves the clock is left out`() {
        #expect(AuthConformance.leftOut(for: Self.harness.features) == MockAgeingTests.checks.map(\.name))
        #expect(Self.own.count == 8)
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

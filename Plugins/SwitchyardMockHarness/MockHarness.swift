package import SwitchyardConformance

/// Everything there is to check about the mock.
package enum MockHarness {
    /// With a project of its own for each suite.
    package static var suites: [ConformanceSuite] {
        [
            .storage(MockStorageHarness()), .auth(MockAuthHarness()), .files(MockFileHarness()),
            .messaging(MockMessagingHarness()), .domain(MockDomainHarness()), .admin(MockAdminHarness()),
            .switching(MockSwitchingHarness()),
        ]
    }
}

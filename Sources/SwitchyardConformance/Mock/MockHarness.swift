/// All suites for the mock.
package enum MockHarness {
    /// The suites, each with a separate project.
    package static var suites: [ConformanceSuite] {
        [
            .storage(MockStorageHarness()), .auth(MockAuthHarness()), .files(MockFileHarness()),
            .messaging(MockMessagingHarness()), .domain(MockDomainHarness()), .admin(MockAdminHarness()),
            .switching(MockSwitchingHarness()),
        ]
    }
}

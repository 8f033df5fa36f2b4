/// A condition that did not come true before its deadline.
package struct DeadlineExceeded: Error, CustomStringConvertible {
    package let description: String
}

/// Waits until `condition` holds, checking at once, soon, and then every few milliseconds; the stand-in for a sleep in tests.
///
/// - Throws: `DeadlineExceeded`, naming `what`, when the condition still does not hold after `deadline`.
package func eventually(
    _ what: String, within deadline: Duration = .seconds(120),
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let end = clock.now + deadline
    // Most of what is waited for is a moment away.
    var pause = Duration.microseconds(100)
    while try await !condition() {
        guard clock.now < end else {
            throw DeadlineExceeded(description: "not within \(deadline): \(what)")
        }
        try await Task.sleep(for: pause)
        pause = min(pause * 2, .milliseconds(5))
    }
}

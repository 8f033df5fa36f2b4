/// A clock on which pauses are always over, as if it had been moved on.
package struct ImpatientClock: Clock {
    package typealias Instant = ContinuousClock.Instant

    package init() {}

    package var now: Instant { ContinuousClock.now }
    package var minimumResolution: Duration { .nanoseconds(1) }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        // What is waited for so long is the deadline of a call, which must not be over at once.
        if deadline - now > .seconds(45) { try await ContinuousClock().sleep(until: deadline) }
    }
}

/// A clock on which a minute is over in a moment: what has a deadline or a pause shows its end, however long that is.
///
/// It goes so many times as fast as others, and not by hand, so that code with many waits that no one can foresee just runs.
package struct HurriedClock: Clock {
    package struct Instant: InstantProtocol {
        package var offset: Duration
        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let start = ContinuousClock.now
    private let factor: Int

    package init(factor: Int = 1000) { self.factor = factor }

    package var now: Instant { Instant(offset: (ContinuousClock.now - start) * factor) }
    package var minimumResolution: Duration { .microseconds(factor) }

    package func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await ContinuousClock().sleep(until: start + deadline.offset / factor)
    }
}

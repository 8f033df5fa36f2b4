/// A clock on which a minute is over in a moment: what has a deadline or a pause shows its end, however long that is.
///
/// It goes so many times as fast as others, and not by hand, so that code with many waits that nobody can foresee just runs.
struct HurriedClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let start = ContinuousClock.now
    private let factor: Int

    init(factor: Int = 1000) { self.factor = factor }

    var now: Instant { Instant(offset: (ContinuousClock.now - start) * factor) }
    var minimumResolution: Duration { .microseconds(factor) }

    func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await ContinuousClock().sleep(until: start + deadline.offset / factor)
    }
}

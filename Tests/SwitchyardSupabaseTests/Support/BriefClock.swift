/// A clock by which pauses are short: for pauses that only a person would want to be long.
struct BriefClock: Clock {
    typealias Instant = ContinuousClock.Instant

    var factor = 50

    var now: Instant { ContinuousClock.now }
    var minimumResolution: Duration { ContinuousClock().minimumResolution }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let pause = ContinuousClock.now.duration(to: deadline)
        try await Task.sleep(for: max(pause / factor, .zero))
    }
}

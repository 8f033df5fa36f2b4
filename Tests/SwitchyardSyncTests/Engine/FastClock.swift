/// Real time, in which pauses are shorter by a factor: a minute of waiting for the engine is a few milliseconds of a test's.
struct FastClock: Clock, Sendable {
    private let base = ContinuousClock()
    private let factor: Int

    init(factor: Int = 1000) { self.factor = factor }

    var now: ContinuousClock.Instant { base.now }
    var minimumResolution: Duration { base.minimumResolution }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try await base.sleep(for: max(.zero, deadline - base.now) / factor)
    }
}

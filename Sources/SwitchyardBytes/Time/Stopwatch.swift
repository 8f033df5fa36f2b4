/// Measures time with any clock, as instants of the continuous clock.
package struct Stopwatch: Sendable {
    private let start = ContinuousClock.now
    private let read: @Sendable () -> Duration

    package init(_ clock: any Clock<Duration>) { read = Self.watch(clock) }

    /// The time since it was created.
    package var elapsed: Duration { read() }
    package var now: ContinuousClock.Instant { start.advanced(by: elapsed) }

    private static func watch<C: Clock>(_ clock: C) -> @Sendable () -> Duration where C.Duration == Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}

/// The time of any clock, told in the instants of one.
package struct Stopwatch: Sendable {
    private let start = ContinuousClock.now
    private let elapsed: @Sendable () -> Duration

    package init(_ clock: any Clock<Duration>) { elapsed = Self.watch(clock) }

    package var now: ContinuousClock.Instant { start.advanced(by: elapsed()) }

    private static func watch<C: Clock>(_ clock: C) -> @Sendable () -> Duration where C.Duration == Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}

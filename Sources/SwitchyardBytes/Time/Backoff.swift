/// Computes the delay before the next attempt: exponential, with jitter. Pure: time and randomness are passed in.
///
/// Call `next` once per attempt. A delay counts from the *start* of the previous attempt, so a long attempt is followed by a
/// shorter wait.
package struct Backoff: Hashable, Sendable {
    package struct Policy: Hashable, Sendable {
        package var initial: Duration
        package var factor: Double
        /// The maximum of the base; jitter is added.
        package var maximum: Duration
        /// The fraction of the base by which a delay may differ in either direction.
        package var jitter: Double
        /// Whether there is no delay before the first attempt after a reset.
        package var isFirstImmediate: Bool

        package init(
            initial: Duration = .seconds(1), factor: Double = 1.5, maximum: Duration = .seconds(60),
            jitter: Double = 0.5, isFirstImmediate: Bool = true
        ) {
            self.initial = initial
            self.factor = factor
            self.maximum = maximum
            self.jitter = jitter
            self.isFirstImmediate = isFirstImmediate
        }
    }

    package let policy: Policy
    /// The base of the next delay, before jitter; zero if it is immediate.
    package private(set) var base: Duration
    private var lastAttempt: ContinuousClock.Instant

    /// - Parameter now: Counts as the start of the attempt before the first delay.
    package init(_ policy: Policy = Policy(), now: ContinuousClock.Instant) {
        self.policy = policy
        base = policy.isFirstImmediate ? .zero : min(policy.initial, policy.maximum)
        lastAttempt = now
    }

    /// The wait from `now` until the next attempt, which is assumed to start then.
    ///
    /// - Parameter minimum: A delay requested by the server (`RetryAfter`), counted from now.
    package mutating func next(
        now: ContinuousClock.Instant, atLeast minimum: Duration? = nil,
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let jittered = base * (1 + policy.jitter * Double.random(in: -1...1, using: &generator))
        let remaining = jittered - max(now - lastAttempt, .zero)
        let delay = max(remaining, minimum ?? .zero, .zero)
        lastAttempt = now + delay
        base = min(max(base * policy.factor, policy.initial), policy.maximum)
        return delay
    }

    /// Call this after a success: the next failure starts over.
    package mutating func reset() {
        base = policy.isFirstImmediate ? .zero : min(policy.initial, policy.maximum)
    }

    /// Call this after a refusal due to overload: the next delay is one of the longest.
    package mutating func jumpToMaximum() { base = policy.maximum }
}

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

/// The `Retry-After` header of RFC 9110, section 10.2.3.
package enum RetryAfter {
    /// How long to wait from now: zero for a date in the past, `nil` for an invalid header.
    ///
    /// - Parameter now: Seconds since 1970, for the form with a date.
    package static func delay(_ header: some StringProtocol, now: Int64) -> Duration? {
        let header = header.utf8.drop(while: isSpace)
        let text = String(decoding: header.reversed().drop(while: isSpace).reversed(), as: UTF8.self)
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // A number that does not fit means practically never; callers limit the wait anyway.
            return text.isEmpty ? nil : .seconds(Int64(text) ?? Int64(Int32.max))
        }
        return HTTPDate.parse(text, now: now).map { .seconds(max(0, $0 - now)) }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

/// How long to wait before the next attempt: exponential, with jitter. A pure machine; time and chance come from outside.
///
/// Ask `next` once for each attempt. A delay counts from the *start* of the attempt before, so an attempt that itself
/// took long is followed by a shorter wait.
package struct Backoff: Hashable, Sendable {
    package struct Policy: Hashable, Sendable {
        package var initial: Duration
        package var factor: Double
        /// Bounds the base; jitter comes on top.
        package var maximum: Duration
        /// The share of the base by which a delay may differ either way.
        package var jitter: Double
        /// Whether the first delay after a reset is none.
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
    /// What the next delay is made of, before jitter; zero when it is immediate.
    package private(set) var base: Duration
    private var lastAttempt: ContinuousClock.Instant

    /// - Parameter now: stands for the start of the attempt before the first delay.
    package init(_ policy: Policy = Policy(), now: ContinuousClock.Instant) {
        self.policy = policy
        base = policy.isFirstImmediate ? .zero : min(policy.initial, policy.maximum)
        lastAttempt = now
    }

    /// The wait from `now` until the next attempt may start, which the machine takes to happen then.
    ///
    /// - Parameter minimum: a server's own wish (`RetryAfter`), which counts from now.
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

    /// After a success: the next failure starts from the beginning.
    package mutating func reset() {
        base = policy.isFirstImmediate ? .zero : min(policy.initial, policy.maximum)
    }

    /// After a refusal for overload: the next delay is one of the longest.
    package mutating func jumpToMaximum() { base = policy.maximum }
}

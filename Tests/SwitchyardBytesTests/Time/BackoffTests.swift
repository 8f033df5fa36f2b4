import SwitchyardBytes
import SwitchyardTestSupport
import Testing

struct BackoffTests {
    private let start = ContinuousClock().now
    private let steady = Backoff.Policy(jitter: 0)

    /// The delays of attempts that fail at once.
    private func delays(_ backoff: inout Backoff, _ count: Int, seed: UInt64 = 1) -> [Duration] {
        var generator = SeededGenerator(seed: seed)
        var now = start
        return (0..<count).map { _ in
            let delay = backoff.next(now: now, using: &generator)
            now += delay
            return delay
        }
    }

    @Test func `The first retry is immediate, then delays grow by the factor up to the maximum`() {
        var backoff = Backoff(Backoff.Policy(maximum: .seconds(4), jitter: 0), now: start)
        #expect(
            delays(&backoff, 7)
                == [.zero, .seconds(1), .seconds(1.5), .seconds(2.25), .seconds(3.375), .seconds(4), .seconds(4)])
    }

    @Test func `Without the immediate retry the first delay is the initial one`() {
        var backoff = Backoff(Backoff.Policy(factor: 2, jitter: 0, isFirstImmediate: false), now: start)
        #expect(delays(&backoff, 3) == [.seconds(1), .seconds(2), .seconds(4)])
    }

    @Test func `Jitter moves each delay by up to its share, beyond the maximum too`() {
        var backoff = Backoff(Backoff.Policy(), now: start)
        backoff.jumpToMaximum()
        let many = delays(&backoff, 500)
        #expect(many.allSatisfy { $0 >= .seconds(30) && $0 <= .seconds(90) })
        #expect(many.contains { $0 < .seconds(35) } && many.contains { $0 > .seconds(85) })
    }

    @Test func `The same chance gives the same delays`() {
        var (one, two) = (Backoff(now: start), Backoff(now: start))
        #expect(delays(&one, 20, seed: 7) == delays(&two, 20, seed: 7))
        #expect(delays(&one, 20, seed: 7) != delays(&two, 20, seed: 8))
    }

    @Test func `The time an attempt took is subtracted`() {
        var generator = SeededGenerator(seed: 1)
        var backoff = Backoff(steady, now: start)
        #expect(backoff.next(now: start, using: &generator) == .zero)
        #expect(backoff.next(now: start + .seconds(0.25), using: &generator) == .seconds(0.75))
        // That attempt starts at 1 s and takes a minute: longer than the next delay.
        #expect(backoff.next(now: start + .seconds(61), using: &generator) == .zero)
        #expect(backoff.next(now: start + .seconds(61), using: &generator) == .seconds(2.25))
    }

    @Test func `A server's request is a minimum from now, also for the immediate retry`() {
        var generator = SeededGenerator(seed: 1)
        var backoff = Backoff(steady, now: start)
        #expect(backoff.next(now: start, atLeast: .seconds(5), using: &generator) == .seconds(5))
        #expect(backoff.next(now: start + .seconds(5), atLeast: .seconds(0.5), using: &generator) == .seconds(1))
        #expect(backoff.next(now: start + .seconds(66), atLeast: .seconds(3), using: &generator) == .seconds(3))
    }

    @Test func `A reset starts from the beginning, a jump goes to the maximum`() {
        var backoff = Backoff(steady, now: start)
        _ = delays(&backoff, 5)
        backoff.reset()
        #expect(delays(&backoff, 1) == [.zero])
        backoff.jumpToMaximum()
        #expect(backoff.base == .seconds(60))
        #expect(delays(&backoff, 2).last == .seconds(60))
    }
}

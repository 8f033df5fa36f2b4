import Synchronization

/// Limits how many documents and accounts are written per second. You can change it while a move runs.
public final class MoveThrottle: Sendable {
    private struct State {
        var limit: Int?
        /// The writes that may happen now; negative after a page that was larger.
        var allowance = 0.0
        var updated: ContinuousClock.Instant?
    }

    private let state: Mutex<State>
    private let rampFrom: Int?
    private let began: ContinuousClock.Instant

    /// - Parameters:
    ///   - limit: Writes per second; `nil` for no limit.
    ///   - rampFrom: Writes per second in the beginning, raised by half every five minutes up to `limit`, as vendors advise for
    ///     new collections.
    public init(_ limit: Int? = nil, rampFrom: Int? = nil) {
        began = .now
        self.rampFrom = rampFrom
        state = Mutex(State(limit: limit))
    }

    public var limit: Int? {
        get { state.withLock(\.limit) }
        set { state.withLock { $0.limit = newValue } }
    }

    /// Waits until `count` more writes are within the limit, in short pauses: a change of the limit takes effect within a quarter
    /// of a second.
    func pass(_ count: Int) async throws {
        while let pause = take(count, at: .now) { try await Task.sleep(for: min(pause, .milliseconds(250))) }
    }

    /// - Returns: How long to wait before the next attempt; `nil` if the writes may happen now.
    func take(_ count: Int, at now: ContinuousClock.Instant) -> Duration? {
        state.withLock { state in
            guard let rate = rate(state.limit, at: now) else { return nil }
            let passed = (now - (state.updated ?? now)) / .seconds(1)
            state.updated = now
            state.allowance = min(state.allowance + passed * rate, rate)
            guard state.allowance < 0 else {
                state.allowance -= Double(count)
                return nil
            }
            return .seconds(-state.allowance / rate)
        }
    }

    private func rate(_ limit: Int?, at now: ContinuousClock.Instant) -> Double? {
        let limit = limit.map { Double(max(1, $0)) }
        guard let rampFrom else { return limit }
        var rate = Double(max(1, rampFrom))
        for _ in 0..<min(60, Int((now - began) / .seconds(300))) { rate *= 1.5 }
        return min(rate, limit ?? rate)
    }
}

import Synchronization

/// The first arrival of each number, for a bench that waits for events.
final class Arrivals: Sendable {
    private let seen = Mutex<[Int: ContinuousClock.Instant]>([:])

    func note(_ number: Int) {
        let now = ContinuousClock.now
        seen.withLock { if $0[number] == nil { $0[number] = now } }
    }

    var count: Int { seen.withLock(\.count) }
    var all: [Int: ContinuousClock.Instant] { seen.withLock { $0 } }

    @discardableResult
    func wait(for number: Int) async throws -> ContinuousClock.Instant {
        for _ in 0..<100_000 {
            if let time = seen.withLock({ $0[number] }) { return time }
            // The time is taken when the event arrives, so the polling interval does not matter.
            try await Task.sleep(for: .microseconds(200))
        }
        throw BenchFailure("an event did not come")
    }
}

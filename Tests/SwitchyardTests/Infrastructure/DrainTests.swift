import SwitchyardTestSupport
import Testing

@testable import Switchyard

/// Waiting for the calls on a client that was exchanged.
@Suite(.timeLimit(.minutes(1))) struct DrainTests {
    /// No pause lasts at all: a deadline has passed as soon as it is checked.
    private struct HurriedClock: Clock {
        typealias Instant = ContinuousClock.Instant
        var now: Instant { ContinuousClock.now }
        var minimumResolution: Duration { .zero }
        func sleep(until deadline: Instant, tolerance: Duration?) async throws {}
    }

    @Test func `A deadline that passes at once ends the waiting, however the threads take turns`() async throws {
        let board = Switchboard(1)
        let (_, lease) = try board.lease("test", StorageError.self)
        let generation = board.connect(2)
        for _ in 0..<10_000 {
            #expect(await board.drain(generation, within: .zero, clock: HurriedClock()) == 1)
        }
        board.release(lease)
        #expect(await board.drain(generation, within: .seconds(3600), clock: ContinuousClock()) == 0)
    }

    @Test func `The last call to end ends the waiting, and no sleeper is left any more`() async throws {
        let clock = ManualClock()
        let board = Switchboard(1)
        let leases = try (0..<3).map { _ in try board.lease("test", StorageError.self).lease }
        let generation = board.connect(2)
        let waiting = Task { await board.drain(generation, within: .seconds(30), clock: clock) }
        try await eventually("it waits") { clock.sleeperCount == 1 }
        for lease in leases { board.release(lease) }
        #expect(await waiting.value == 0)
        try await eventually("no sleeper is left") { clock.sleeperCount == 0 }
    }

    @Test func `Who is cancelled stops waiting and learns what is still under way`() async throws {
        let clock = ManualClock()
        let board = Switchboard(1)
        let (_, lease) = try board.lease("test", StorageError.self)
        let generation = board.connect(2)
        let waiting = Task { await board.drain(generation, within: .seconds(30), clock: clock) }
        try await eventually("it waits") { clock.sleeperCount == 1 }
        waiting.cancel()
        #expect(await waiting.value == 1)
        board.release(lease)
    }
}

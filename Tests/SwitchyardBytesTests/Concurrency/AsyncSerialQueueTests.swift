import SwitchyardBytes
import SwitchyardTestSupport
import Synchronization
import Testing

@Suite struct TurnsTests {
    private struct Refused: Error, Hashable {}

    private let turns = AsyncSerialQueue()
    private let log = Log()

    private final class Log: Sendable {
        private let lines = Mutex<[String]>([])
        func append(_ line: String) { lines.withLock { $0.append(line) } }
        var events: [String] { lines.withLock { $0 } }
    }

    @Test func `No one begins before everybody earlier has ended, failures among them`() async throws {
        let gate = Promise<Void>()
        let first = Task { [turns, log] in
            try await turns.take { () async throws(Refused) in
                log.append("first begins")
                _ = await gate.value
                log.append("first fails")
                throw Refused()
            }
        }
        try await eventually("the first has its turn") { log.events == ["first begins"] }
        let second = Task { [turns, log] in
            await turns.take { () async throws(Never) in
                log.append("second")
                return 2
            }
        }
        gate.resolve(())
        await #expect(throws: Refused()) { try await first.value }
        #expect(await second.value == 2)
        #expect(log.events == ["first begins", "first fails", "second"])
    }

    @Test func `Cancelling the caller cancels its turn, and the next one has its own`() async throws {
        let caller = Task { [turns, log] in
            await turns.take { () async throws(Never) in
                log.append("waits")
                while !Task.isCancelled { await Task.yield() }
                log.append("cancelled")
            }
        }
        try await eventually("it has its turn") { log.events == ["waits"] }
        caller.cancel()
        await caller.value
        await turns.take { [log] () async throws(Never) in log.append("next") }
        #expect(log.events == ["waits", "cancelled", "next"])
    }
}

import Synchronization
import Testing

@testable import SwitchyardTestRuns

/// Work that is done beside other tests counts for the test that reports it, as if it were done there.
@Suite struct SideRunTests {
    private struct Broken: Error {}

    private static let sound = SideRun(1...3) { $0 * 2 }

    @Test(.beside(sound), arguments: 1...3) func `Each piece has its value`(number: Int) async throws {
        #expect(try await Self.sound.value(of: number) == number * 2)
    }

    @Test func `What the body throws is thrown where its value is asked for`() async {
        let run = SideRun { () async throws -> Int in throw Broken() }
        await #expect(throws: Broken.self) { _ = try await run.value }
    }

    @Test func `Pieces that disturb each other are done one after the other`() async throws {
        let working = Mutex((now: 0, most: 0))
        let run = SideRun(1...6, width: 1) { _ in
            working.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            for _ in 0..<20 { await Task.yield() }
            working.withLock { $0.now -= 1 }
        }
        for number in 1...6 { try await run.value(of: number) }
        #expect(working.withLock { $0.most } == 1)
    }

    @Test func `Nothing begins before a test runs, which reports what fails`() async throws {
        let lane = SideLane()
        let began = Mutex(0)
        let run = SideRun(1...3, width: .max, in: lane) { _ in began.withLock { $0 += 1 } }
        run.begin(at: "")
        for _ in 0..<100 { await Task.yield() }
        #expect(began.withLock { $0 } == 0)
        for number in 1...3 { try await run.value(of: number) }
        #expect(began.withLock { $0 } == 3)
    }

    @Test(.timeLimit(.minutes(1))) func `A run is done although an earlier one was where it is in memory`() async throws
    {
        let lane = SideLane()
        for number in 0..<200 {
            let run = SideRun(0...0, width: 1, in: lane) { _ in number }
            #expect(try await run.value(of: 0) == number)
        }
    }

    @Test func `A piece that no one named is an error`() async {
        await #expect(throws: UnknownPiece.self) { _ = try await Self.sound.value(of: 4) }
    }
}

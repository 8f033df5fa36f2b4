import Switchyard
import SwitchyardTestSupport
import Testing

/// Two engines on one store and a server that rotates refresh tokens and ends a session where one is used too late: any
/// order of events must keep everybody's session whole.
@Suite struct SessionInterleavingTests {
    @Test(arguments: 0..<RunSize.full(150, part: 30)) func `Any order of events keeps sessions whole`(seed: Int) throws
    {
        var world = SessionWorld(seed: UInt64(seed))
        for _ in 0..<250 {
            world.step()
            try #require(world.problems.isEmpty, "seed \(seed): \(world.problems)")
        }
        world.settle()
        try #require(world.problems.isEmpty, "seed \(seed), settled: \(world.problems)")
    }

    @Test func `The schedules reach what they are meant to test`() {
        var seen = SessionWorld.Reached()
        for seed in 0..<300 {
            var world = SessionWorld(seed: UInt64(seed))
            for _ in 0..<250 { world.step() }
            seen.add(world.reached)
        }
        #expect(seen.renewals > 1000 && seen.adoptions > 50 && seen.lateAnswers > 100 && seen.lostAnswers > 100)
        #expect(seen.forgiven > 50 && seen.expirations > 20 && seen.crashes > 100)
    }
}

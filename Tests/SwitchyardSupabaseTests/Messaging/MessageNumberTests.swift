import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// Which of the numbered messages of a channel have arrived.
@Suite struct MessageNumberTests {
    @Test func `Nothing is missing before the newest number is known`() {
        var numbers = MessageNumbers()
        numbers.arrived(7)
        #expect(!numbers.hasHole && numbers.through == nil)
        numbers.settled(through: 6, newest: 6)
        #expect(numbers.through == 7, "the one that arrived before the answer follows it")
    }

    @Test func `A hole shows with the message behind it, and closes with the missing one`() {
        var numbers = MessageNumbers()
        numbers.settled(through: 3, newest: 3)
        numbers.arrived(4)
        numbers.arrived(6)
        #expect(numbers.hasHole && numbers.through == 4)
        numbers.arrived(5)
        #expect(!numbers.hasHole && numbers.through == 6)
    }

    @Test func `A channel that was recreated starts over`() {
        var numbers = MessageNumbers()
        numbers.settled(through: 50, newest: 50)
        numbers.arrived(52)
        numbers.settled(through: 2, newest: 2)
        #expect(numbers.through == 2 && !numbers.hasHole)
    }

    @Test func `An old answer takes nothing back`() {
        var numbers = MessageNumbers()
        numbers.settled(through: 5, newest: 5)
        numbers.arrived(6)
        numbers.settled(through: 5, newest: 9)
        #expect(numbers.through == 6)
    }

    @Test(arguments: 0..<200)
    func `In any order, with any losses and answers, what is behind has arrived or was settled`(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var numbers = MessageNumbers()
        var arrived: Set<Int64> = []
        numbers.settled(through: 0, newest: 0)
        var settled: Int64 = 0
        for _ in 0..<60 {
            let number = Int64.random(in: 1...40, using: &random)
            if Int.random(in: 0..<10, using: &random) == 0 {
                settled = max(settled, number)
                numbers.settled(through: number, newest: 40)
            } else {
                arrived.insert(number)
                numbers.arrived(number)
            }
            var through = settled
            while arrived.contains(through + 1) { through += 1 }
            #expect(numbers.through == through)
            #expect(numbers.hasHole == arrived.contains { $0 > through })
        }
    }
}

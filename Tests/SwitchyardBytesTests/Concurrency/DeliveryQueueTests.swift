import SwitchyardBytes
import Synchronization
import Testing

@Suite struct DeliveryQueueTests {
    /// A number that many threads raise, and what was delivered of it.
    private final class Owner: Sendable {
        let number = Mutex(0)
        let delivered = Mutex<[Int]>([])
        let deliveries = DeliveryQueue()

        func raise() {
            number.withLock { number in
                number += 1
                deliveries.add([{ [number] in self.delivered.withLock { $0.append(number) } }])
            }
            deliveries.drain()
        }
    }

    @Test func `What many threads decide is delivered in the order in which it was decided`() async {
        let owner = Owner()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<500 { owner.raise() } } }
        }
        owner.deliveries.drain()
        #expect(owner.delivered.withLock { $0 } == Array(1...4000))
    }

    @Test func `What an action adds has its turn after it, though the action drains too`() {
        let deliveries = DeliveryQueue()
        let delivered = Mutex<[String]>([])
        @Sendable func tell(_ word: String) { delivered.withLock { $0.append(word) } }
        deliveries.add([
            {
                tell("first begins")
                deliveries.add([{ tell("third") }])
                deliveries.drain()
                tell("first ends")
            },
            { tell("second") },
        ])
        deliveries.drain()
        #expect(delivered.withLock { $0 } == ["first begins", "first ends", "second", "third"])
    }

    @Test func `Nothing is carried out before it is asked for, and nothing twice`() {
        let deliveries = DeliveryQueue()
        let count = Atomic(0)
        deliveries.add([{ count.add(1, ordering: .relaxed) }])
        #expect(count.load(ordering: .relaxed) == 0)
        deliveries.drain()
        deliveries.drain()
        #expect(count.load(ordering: .relaxed) == 1)
    }
}

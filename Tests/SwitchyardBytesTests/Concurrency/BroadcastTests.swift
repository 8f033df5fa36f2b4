import SwitchyardBytes
import Synchronization
import Testing

@Suite struct BroadcastTests {
    private typealias Listener = @Sendable (Int) -> Void

    /// What a listener received.
    private final class Log: Sendable {
        private let received = Mutex<[Int]>([])
        var values: [Int] { received.withLock { $0 } }
        func take(_ value: Int) { received.withLock { $0.append(value) } }
    }

    @Test func `A listener receives what was decided after it came, behind its greeting`() {
        let broadcast = Broadcast<Listener>()
        let (first, second) = (Log(), Log())
        let stop = broadcast.add(first.take) { $0(0) }
        broadcast.queue { $0(1) }
        _ = broadcast.add(second.take) { $0(10) }
        broadcast.queue { $0(2) }
        #expect(first.values.isEmpty, "nothing is received before it is delivered")
        broadcast.deliver()
        #expect(first.values == [0, 1, 2])
        #expect(second.values == [10, 2])
        stop()
        stop()
        broadcast.send { $0(3) }
        #expect(first.values == [0, 1, 2])
        #expect(second.values == [10, 2, 3])
        #expect(broadcast.count == 1)
    }

    @Test func `After the end a new listener gets the final message alone, and none is stored`() {
        let broadcast = Broadcast<Listener>()
        let (early, late) = (Log(), Log())
        _ = broadcast.add(early.take)
        broadcast.close { $0(-1) }
        broadcast.close { $0(-2) }
        broadcast.send { $0(5) }
        _ = broadcast.add(late.take) { $0(0) }
        broadcast.deliver()
        #expect(early.values == [-1])
        #expect(late.values == [-1])
        #expect(broadcast.isEmpty)
    }

    @Test func `A listener that leaves or sends during a delivery neither locks up nor breaks the order`() {
        let broadcast = Broadcast<Listener>()
        let log = Log()
        let leaving = Mutex<(@Sendable () -> Void)?>(nil)
        let stop = broadcast.add({ value in
            log.take(value)
            if value == 1 { broadcast.send { $0(2) } }
            if value == 2 { leaving.withLock { $0 }?() }
        })
        leaving.withLock { $0 = stop }
        broadcast.send { $0(1) }
        broadcast.send { $0(3) }
        #expect(log.values == [1, 2])
    }

    @Test func `Two threads never deliver a newer state before an older one`() async {
        final class Owner: Sendable {
            let broadcast = Broadcast<Listener>()
            private let state = Mutex(0)

            func rise() {
                state.withLock { value in
                    value += 1
                    broadcast.queue { [value] in $0(value) }
                }
                broadcast.deliver()
            }
        }
        let owner = Owner()
        let log = Log()
        _ = owner.broadcast.add(log.take)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<500 { owner.rise() } } }
        }
        #expect(log.values == Array(1...4000))
    }
}

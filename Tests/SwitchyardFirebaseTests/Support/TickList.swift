import Synchronization

/// Numbers that several tasks have ticked off, each as often as it was.
final class TickList: Sendable {
    private let ticks = Mutex<[Int: Int]>([:])

    func tick(_ number: Int) { ticks.withLock { $0[number, default: 0] += 1 } }

    /// How many different numbers there are.
    var count: Int { ticks.withLock { $0.count } }
    var counts: [Int: Int] { ticks.withLock { $0 } }
}

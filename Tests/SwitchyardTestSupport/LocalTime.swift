package import Switchyard
import Synchronization

/// A clock that a test sets.
package final class LocalTime: Sendable {
    private let seconds: Mutex<Int64>
    package init(_ seconds: Int64 = 1_800_000_000) { self.seconds = Mutex(seconds) }
    package var now: Timestamp { Timestamp(microseconds: seconds.withLock { $0 } * 1_000_000) }
    package func advance(by more: Int64) { seconds.withLock { $0 += more } }
}

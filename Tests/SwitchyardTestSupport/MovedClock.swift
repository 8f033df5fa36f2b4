import Foundation
package import Switchyard
import Synchronization

/// A time of day that stands still until a test moves it on.
package final class MovedClock: Sendable {
    private let time = Mutex(Timestamp(Date()))

    package init() {}

    package var now: Timestamp { time.withLock { $0 } }
    package func advance(_ seconds: Int64) {
        time.withLock { $0 = Timestamp(microseconds: $0.microseconds + seconds * 1_000_000) }
    }
}

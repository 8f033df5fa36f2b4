import Synchronization

/// A time of day, in seconds, that a test sets.
final class BedTime: Sendable {
    private let seconds = Mutex<Int64>(1_800_000_000)
    var value: Int64 {
        get { seconds.withLock { $0 } }
        set { seconds.withLock { $0 = newValue } }
    }
}

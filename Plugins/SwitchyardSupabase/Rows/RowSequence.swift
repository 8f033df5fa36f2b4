import Switchyard
import SwitchyardSync
import Synchronization

/// The versions that this client assigns to rows, since tables have no common time: a read counts from its start, a
/// write from its answer. Each is later than those before.
final class RowSequence: Sendable {
    private let last = Mutex(Timestamp.never)
    private let now: @Sendable () -> Timestamp

    init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

    /// Continues after a version, even if the device's clock says something earlier.
    func begin(after version: Timestamp) { last.withLock { $0 = max($0, version) } }

    /// The latest version that was assigned, or from which it continues.
    var latest: Timestamp { last.withLock { $0 } }

    func next() -> Timestamp {
        let time = Timestamp(microseconds: now().microseconds)
        return last.withLock { last in
            last = max(time, Timestamp(microseconds: last.microseconds + 1))
            return last
        }
    }
}

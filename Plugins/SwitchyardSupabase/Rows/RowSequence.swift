import Switchyard
import SwitchyardSync
import Synchronization

/// The versions that this client gives to rows, since their tables have no time for all of them: a read counts from its start, a
/// write from its answer. Each is later than those before.
final class RowSequence: Sendable {
    private let last = Mutex(Timestamp.never)
    private let now: @Sendable () -> Timestamp

    init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

    /// Continues behind a version, even if the device's clock says something earlier.
    func begin(after version: Timestamp) { last.withLock { $0 = max($0, version) } }

    /// The latest version that this has given or continues behind.
    var latest: Timestamp { last.withLock { $0 } }

    func next() -> Timestamp {
        let time = Timestamp(microseconds: now().microseconds)
        return last.withLock { last in
            last = max(time, Timestamp(microseconds: last.microseconds + 1))
            return last
        }
    }
}

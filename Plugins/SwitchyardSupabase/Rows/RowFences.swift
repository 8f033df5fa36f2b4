import Switchyard
import SwitchyardBytes
import Synchronization

/// Rows with a write whose answer was lost. It may be waiting for a lock, and take effect after a read has returned the old
/// row.
final class RowFences: Sendable {
    struct Fence: Sendable {
        /// The version that the row had before; `nil` if that is not known.
        let base: String?
        /// Whether it adds the row, and so would add it again if it were deleted, and does nothing else.
        var isAddition = false
        fileprivate let since: Stopwatch
        /// Whether no statement can still be running: the limit of hosted projects is 8 seconds.
        var isOver: Bool { since.elapsed >= .seconds(10) }
    }

    private let clock: any Clock<Duration>
    private let fences = Mutex<[StoragePath: Fence]>([:])

    init(_ clock: any Clock<Duration>) { self.clock = clock }

    func raise(at path: StoragePath, base: String?) {
        fences.withLock { $0[path] = Fence(base: base, since: Stopwatch(clock)) }
    }

    /// A row was added, after an earlier attempt whose answer was lost: that one can do no harm as long as the row is there.
    func moveAddition(from path: StoragePath, to row: StoragePath) {
        fences.withLock { fences in
            guard var fence = fences.removeValue(forKey: path), !fence.isOver else { return }
            fence.isAddition = true
            fences[row] = fence
        }
    }

    func fence(at path: StoragePath) -> Fence? { fences.withLock { $0[path] } }
    func remove(at path: StoragePath) { fences.withLock { $0[path] = nil } }
}

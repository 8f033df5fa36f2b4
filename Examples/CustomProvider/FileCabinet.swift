import Switchyard
import Synchronization

/// The backend: documents in a dictionary, and the readers of changes.
final class FileCabinet: Sendable {
    private struct State {
        var drawers: [StoragePath: DocumentSnapshot] = [:]
        var readers: [Int: @Sendable ([DocumentSnapshot]) -> Void] = [:]
        var lastReader = 0
        var lastTime = Timestamp.distantPast
    }
    private let state = Mutex(State())
    private let now: @Sendable () -> Timestamp

    init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

    var documents: [DocumentSnapshot] { state.withLock { Array($0.drawers.values) } }

    func document(_ path: StoragePath) -> DocumentSnapshot { state.withLock { $0.drawers[path] ?? .missing(path) } }

    /// All writes or none.
    func carryOut(_ writes: [DocumentWrite]) throws(StorageError) -> WriteReceipt.Acknowledgement {
        try state.withLock { state throws(StorageError) in
            // Versions must differ, even if two commits share a tick of the clock.
            let time = max(now(), state.lastTime.advanced(by: .microseconds(1)))
            var drawers = state.drawers
            for write in writes {
                drawers[write.path] = try write.carriedOut(on: drawers[write.path] ?? .missing(write.path), at: time)
            }
            state.drawers = drawers.filter { $0.value.exists }
            state.lastTime = time
            // Under the lock, so that no reader sees two commits in the wrong order; readers only pass it on.
            let everything = Array(state.drawers.values)
            for reader in state.readers.values { reader(everything) }
            return WriteReceipt.Acknowledgement(
                commitTime: time, updateTimes: writes.map { state.drawers[$0.path]?.updateTime })
        }
    }

    /// Calls `reader` now and after every commit, until the returned closure is called.
    func read(_ reader: @escaping @Sendable ([DocumentSnapshot]) -> Void) -> @Sendable () -> Void {
        let id = state.withLock { state in
            state.lastReader += 1
            state.readers[state.lastReader] = reader
            reader(Array(state.drawers.values))
            return state.lastReader
        }
        return { [weak self] in _ = self?.state.withLock { $0.readers.removeValue(forKey: id) } }
    }
}

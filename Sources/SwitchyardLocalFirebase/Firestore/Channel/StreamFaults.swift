import Synchronization

/// Simulated faults inside streams, which request faults cannot cause.
package final class StreamFaults: Sendable {
    private struct State {
        var duplicates = 0
        var reorders = 0
        var lies = 0
        var lie = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// The next `frames` pieces of a back channel bring each of their messages twice.
    package func duplicateArrays(inNext frames: Int) { state.withLock { $0.duplicates = frames } }

    /// The next `frames` pieces that hold several messages bring them in the wrong order.
    package func reorderArrays(inNext frames: Int) { state.withLock { $0.reorders = frames } }

    /// The next `times` changes of live queries are followed by a wrong number of documents.
    package func misstateCounts(by difference: Int, times: Int = 1) {
        state.withLock { state in
            state.lie = difference
            state.lies = times
        }
    }

    package func removeAll() { state.withLock { $0 = State() } }

    /// What to do to a piece of several messages, or of one.
    func strikeFrame(isReorderable: Bool) -> (duplicates: Bool, reorders: Bool) {
        state.withLock { state in
            let duplicates = state.duplicates > 0
            if duplicates { state.duplicates -= 1 }
            let reorders = isReorderable && state.reorders > 0
            if reorders { state.reorders -= 1 }
            return (duplicates, reorders)
        }
    }

    /// How much the next count should be off; `nil` for a correct one, which need not be sent.
    func strikeCount() -> Int? {
        state.withLock { state in
            guard state.lies > 0 else { return nil }
            state.lies -= 1
            return state.lie
        }
    }
}

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

    /// Sends each message of the next `frames` pieces of a back channel twice.
    package func duplicateArrays(inNext frames: Int) { state.withLock { $0.duplicates = frames } }

    /// Sends the messages of the next `frames` pieces with several messages in the wrong order.
    package func reorderArrays(inNext frames: Int) { state.withLock { $0.reorders = frames } }

    /// Sends a wrong number of documents after the next `times` changes of live queries.
    package func misstateCounts(by difference: Int, times: Int = 1) {
        state.withLock { state in
            state.lie = difference
            state.lies = times
        }
    }

    package func removeAll() { state.withLock { $0 = State() } }

    /// The faults for a piece with several messages, or with one.
    func strikeFrame(isReorderable: Bool) -> (duplicates: Bool, reorders: Bool) {
        state.withLock { state in
            let duplicates = state.duplicates > 0
            if duplicates { state.duplicates -= 1 }
            let reorders = isReorderable && state.reorders > 0
            if reorders { state.reorders -= 1 }
            return (duplicates, reorders)
        }
    }

    /// The error of the next count; `nil` for a correct one, which need not be sent.
    func strikeCount() -> Int? {
        state.withLock { state in
            guard state.lies > 0 else { return nil }
            state.lies -= 1
            return state.lie
        }
    }
}

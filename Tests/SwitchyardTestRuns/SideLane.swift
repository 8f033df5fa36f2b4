import Synchronization

/// Runs what tests need, piece by piece, beside the tests that report it.
///
/// Half of what slow tests do is waiting for a server. A ``SideRun`` that is entered here before the first test begins does its
/// waiting meanwhile. A few pieces run at a time, and one more while a test does nothing but wait for its own.
///
/// No piece begins before ``open()``: until a test runs, an expectation that is not met goes unreported, and a test that
/// starts a process ends the whole run.
final class SideLane: Sendable {
    static let shared = SideLane()
    /// How many more pieces run while a test does nothing but wait for one: they wait for servers themselves.
    private static let lent = 1

    /// One run's pieces that have not begun, in the order in which its test asks for them.
    private struct Entry {
        let run: ObjectIdentifier
        /// Where its test is.
        let place: String
        /// How many of its pieces may be under way at once.
        let width: Int
        var pieces: ArraySlice<@Sendable () async -> Void>

        /// Those of one or two pieces, which are long ones, and then in the order in which their tests come: whoever waits for a
        /// long piece has nothing else to do meanwhile.
        func comes(before other: Entry) -> Bool {
            let (isLong, isOtherLong) = (pieces.count <= 2, other.pieces.count <= 2)
            return isLong == isOtherLong ? place < other.place : isLong
        }
    }

    private struct State {
        var entries: [Entry] = []
        /// How many pieces of each run are under way.
        var begun: [ObjectIdentifier: Int] = [:]
        var isOpen = false
        var allowed = 2
        var working = 0
    }

    private let state = Mutex(State())

    /// Adds a run, which does so once.
    ///
    /// - Parameter place: The file of its test; files are run in the order of their names.
    func enter(_ run: AnyObject, at place: String, width: Int, _ pieces: [@Sendable () async -> Void]) {
        state.withLock { state in
            // Whose identity it was before: its pieces hold a run until they are done.
            state.begun[ObjectIdentifier(run)] = nil
            let entry = Entry(run: ObjectIdentifier(run), place: place, width: width, pieces: pieces[...])
            state.entries.insert(entry, at: state.entries.firstIndex(where: entry.comes) ?? state.entries.endIndex)
        }
        startWorkers()
    }

    /// Lets the first pieces begin, now that a test runs.
    func open() {
        state.withLock { $0.isOpen = true }
        startWorkers()
    }

    /// Lends turns while `body` waits for a piece of `run`, whose pieces come next.
    func lend<Value>(for run: AnyObject, _ body: () async throws -> Value) async rethrows -> Value {
        state.withLock { state in
            state.allowed += SideLane.lent
            guard let index = state.entries.firstIndex(where: { $0.run == ObjectIdentifier(run) }) else { return }
            state.entries.insert(state.entries.remove(at: index), at: 0)
        }
        startWorkers()
        defer { state.withLock { $0.allowed -= SideLane.lent } }
        return try await body()
    }

    private func startWorkers() {
        while let piece = next() {
            Task.detached {
                var piece = piece
                while true {
                    await piece.body()
                    guard let next = self.next(after: piece.run) else { return }
                    piece = next
                    // What has ended may have kept other pieces of its run waiting.
                    self.startWorkers()
                }
            }
        }
    }

    private typealias Piece = (run: ObjectIdentifier, body: @Sendable () async -> Void)

    /// The next piece for a worker, or nil when there is none or when there are workers enough.
    ///
    /// - Parameter ended: The run whose piece the worker has done; nil for a new worker.
    private func next(after ended: ObjectIdentifier? = nil) -> Piece? {
        state.withLock { state in
            if let ended {
                state.working -= 1
                state.begun[ended, default: 1] -= 1
            }
            guard state.isOpen, state.working < state.allowed,
                let index = state.entries.firstIndex(where: { state.begun[$0.run, default: 0] < $0.width })
            else { return nil }
            let run = state.entries[index].run
            let body = state.entries[index].pieces.removeFirst()
            if state.entries[index].pieces.isEmpty { state.entries.remove(at: index) }
            state.working += 1
            state.begun[run, default: 0] += 1
            return (run, body)
        }
    }
}

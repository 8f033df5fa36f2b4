import Synchronization

/// Runs what tests need, piece by piece, beside the tests that report it.
///
/// Tests run one at a time, and half of what the slow ones do is waiting for a server. A ``SideRun`` that is entered here
/// before the first test begins does its waiting meanwhile. One piece runs at a time; a test that waits for its piece lends
/// its own turn, so that two run then.
final class SideLane: Sendable {
    static let shared = SideLane()

    /// One run's pieces that have not begun, in the order in which its test asks for them.
    private struct Entry {
        let run: ObjectIdentifier
        var pieces: ArraySlice<@Sendable () async -> Void>
    }

    private struct State {
        var entries: [Entry] = []
        var entered: Set<ObjectIdentifier> = []
        var allowed = 1
        var working = 0
    }

    private let state = Mutex(State())

    /// Adds a run once, behind the others.
    func enter(_ run: AnyObject, _ pieces: [@Sendable () async -> Void]) {
        state.withLock { state in
            guard state.entered.insert(ObjectIdentifier(run)).inserted else { return }
            state.entries.append(Entry(run: ObjectIdentifier(run), pieces: pieces[...]))
        }
        startWorkers()
    }

    /// Lends the caller's turn while `body` waits for a piece of `run`, whose pieces come next.
    func lend<Value>(for run: AnyObject, _ body: () async throws -> Value) async rethrows -> Value {
        state.withLock { state in
            state.allowed += 1
            guard let index = state.entries.firstIndex(where: { $0.run == ObjectIdentifier(run) }) else { return }
            state.entries.insert(state.entries.remove(at: index), at: 0)
        }
        startWorkers()
        defer { state.withLock { $0.allowed -= 1 } }
        return try await body()
    }

    private func startWorkers() {
        while let piece = next(isNew: true) {
            Task.detached {
                await piece()
                while let piece = self.next(isNew: false) { await piece() }
            }
        }
    }

    /// The next piece for a worker, or nil when there is none or when there are workers enough.
    private func next(isNew: Bool) -> (@Sendable () async -> Void)? {
        state.withLock { state in
            if !isNew { state.working -= 1 }
            guard state.working < state.allowed, !state.entries.isEmpty else { return nil }
            let piece = state.entries[0].pieces.removeFirst()
            if state.entries[0].pieces.isEmpty { state.entries.removeFirst() }
            state.working += 1
            return piece
        }
    }
}

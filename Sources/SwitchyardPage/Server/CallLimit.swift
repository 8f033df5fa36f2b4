import Synchronization

/// How many calls of pages work on a backend at a time, so that many tabs leave room for its clients. Others wait in order.
final class CallLimit: Sendable {
    private struct State {
        var running = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let most: Int
    private let state = Mutex(State())

    init(_ most: Int) { self.most = most }

    /// The number of calls that wait.
    var waiting: Int { state.withLock { $0.waiting.count } }

    func run<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
        await begin()
        defer { end() }
        // Whoever has gone meanwhile needs no answer.
        try Task.checkCancellation()
        return try await body()
    }

    private func begin() async {
        await withCheckedContinuation { continuation in
            let goes = state.withLock { state in
                guard state.running >= most else {
                    state.running += 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if goes { continuation.resume() }
        }
    }

    private func end() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.running -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}

import SwitchyardBytes
import Synchronization

/// Holds a client that can be replaced by another while it is in use.
///
/// Calls use the client that is current when they begin, and are counted until they end, so that the old client can be shut
/// down once it is unused. Streams follow: they are reopened on the new client, and their consumer sees one stream.
final class Switchboard<Client: Sendable>: Sendable {
    private struct State {
        var client: Client
        var generation = 0
        /// Calls in progress, by the generation they began in.
        var running: [Int: Int] = [:]
        var waiters: [(id: Int, generation: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var followers: [Int: Follower] = [:]
        var nextID = 0

        func isDrained(upTo generation: Int) -> Bool { !running.keys.contains { $0 <= generation } }
    }

    /// Called outside the lock, so a call may arrive late or after the end of following. A client with a lower generation
    /// than one seen before is outdated.
    typealias Follower = @Sendable (_ client: Client, _ generation: Int) -> Void

    private let state: Mutex<State>

    init(_ client: Client) { state = Mutex(State(client: client)) }

    var present: Client { state.withLock { $0.client } }

    /// Keeps the current client alive until ``release(_:)``.
    func lease() -> (client: Client, lease: Int) {
        state.withLock { state in
            state.running[state.generation, default: 0] += 1
            return (state.client, state.generation)
        }
    }

    func release(_ lease: Int) {
        let done = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.running[lease, default: 1] -= 1
            guard state.running[lease] == 0 else { return [] }
            state.running[lease] = nil
            let done = state.waiters.filter { state.isDrained(upTo: $0.generation) }
            state.waiters.removeAll { waiter in done.contains { $0.id == waiter.id } }
            return done.map(\.continuation)
        }
        for continuation in done { continuation.resume() }
    }

    /// Puts `client` in place: later calls go to it, and every stream moves over.
    ///
    /// - Returns: The generation whose calls may still run on the previous client.
    @discardableResult
    func replace(with client: Client) -> Int {
        let (generation, followers) = state.withLock { state in
            defer {
                state.client = client
                state.generation += 1
            }
            return (state.generation, Array(state.followers.values))
        }
        for follower in followers { follower(client, generation + 1) }
        return generation
    }

    /// Waits until all calls of `generation` or earlier have ended, or until `deadline` has passed.
    ///
    /// - Returns: The number of calls still in progress then.
    func drain(_ generation: Int, within deadline: Duration, clock: any Clock<Duration>) async -> Int {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let timer = TaskBox()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    guard !state.isDrained(upTo: generation), !Task.isCancelled else { return true }
                    state.waiters.append((id, generation, continuation))
                    return false
                }
                if isDone { return continuation.resume() }
                // Only after there is a waiter to wake.
                timer.replace(
                    with: Task { [weak self] in
                        try? await clock.sleep(for: deadline)
                        self?.giveUp(id)
                    })
            }
        } onCancel: {
            giveUp(id)
        }
        timer.cancel()
        return state.withLock { $0.running.reduce(0) { $1.key <= generation ? $0 + $1.value : $0 } }
    }

    private func giveUp(_ id: Int) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiters.remove(at: index).continuation
        }
        continuation?.resume()
    }

    /// Calls `follower` now and at every switch, until the returned closure is called.
    func follow(_ follower: @escaping Follower) -> @Sendable () -> Void {
        let (id, client, generation) = state.withLock { state in
            state.nextID += 1
            state.followers[state.nextID] = follower
            return (state.nextID, state.client, state.generation)
        }
        follower(client, generation)
        return { [weak self] in self?.state.withLock { $0.followers[id] = nil } }
    }
}

import SwitchyardBytes
import Synchronization

/// Holds a client that can be replaced by another while it is in use.
///
/// Calls use the client that is current when they begin, and are counted until they end, so that the old client can be shut
/// down once it is unused. Streams follow: they are reopened on the new client, and their consumer sees one stream.
package final class Switchboard<Client: Sendable>: Sendable {
    enum Target: Sendable {
        case connection(Connection<Client>)
        case refusal(Refusal)
    }

    /// Called outside the lock, so a call may arrive late or after the end of following. A target with a lower generation than
    /// one seen before is outdated.
    typealias Follower = @Sendable (_ target: Target, _ generation: Int) -> Void

    private struct Waiter {
        let id: Int
        let generation: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var target: Target
        var generation = 0
        /// The calls of the current generation.
        var running = 0
        /// The calls of earlier generations that have not ended.
        var earlier: [Int: Int] = [:]
        var waiters: [Waiter] = []
        var followers: [Int: Follower] = [:]
        var nextID = 0

        func count(upTo last: Int) -> Int {
            earlier.reduce(last >= generation ? running : 0) { $1.key <= last ? $0 + $1.value : $0 }
        }

        mutating func takeWaiters(_ isWanted: (Waiter) -> Bool) -> [Waiter] {
            let taken = waiters.filter(isWanted)
            waiters.removeAll(where: isWanted)
            return taken
        }

        mutating func newID() -> Int {
            nextID += 1
            return nextID
        }
    }

    private let state: Mutex<State>

    init(_ target: Target) { state = Mutex(State(target: target)) }

    convenience init(_ client: Client, _ policy: CallPolicy? = nil) {
        self.init(.connection(Connection(client: client, policy: policy)))
    }

    /// Leads to `client`, with nothing in between.
    package convenience init(to client: Client) { self.init(client) }

    /// `nil` while there is no client.
    var connection: Connection<Client>? {
        if case .connection(let connection) = state.withLock({ $0.target }) { connection } else { nil }
    }

    // MARK: Calls

    /// For a result that keeps using the client, until it calls `done`.
    func call<Result, Failure: ClientError>(
        _ operation: ClientOperation,
        keeping: (Result, CallPolicy?, _ done: @escaping @Sendable () -> Void) -> Result,
        _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let (connection, lease) = try lease(operation, Failure.self)
        let release = Once { self.release(lease) }
        do throws(Failure) {
            return keeping(try await connection.run(operation, body), connection.policy) { release.run() }
        } catch {
            release.run()
            throw error
        }
    }

    /// Keeps the current client alive until ``release(_:)``.
    func lease<Failure: ClientError>(
        _ operation: ClientOperation, _: Failure.Type
    ) throws(Failure) -> (connection: Connection<Client>, lease: Int) {
        let (target, generation) = state.withLock { state in
            if case .connection = state.target { state.running += 1 }
            return (state.target, state.generation)
        }
        switch target {
        case .connection(let connection): return (connection, generation)
        case .refusal(let refusal): throw refusal.error(operation)
        }
    }

    func release(_ lease: Int) {
        let done = state.withLock { state -> [Waiter] in
            // No one waits for the calls of the current client.
            if lease == state.generation {
                state.running -= 1
                return []
            }
            let rest = state.earlier[lease, default: 1] - 1
            state.earlier[lease] = rest == 0 ? nil : rest
            guard rest == 0, !state.waiters.isEmpty else { return [] }
            let counted = state
            return state.takeWaiters { counted.count(upTo: $0.generation) == 0 }
        }
        for waiter in done { waiter.continuation.resume() }
    }

    // MARK: The exchange

    /// Later calls go to `target`, and every stream moves over.
    ///
    /// - Returns: The generation whose calls may still run on the previous client.
    @discardableResult
    func connect(_ target: Target) -> Int {
        let (generation, followers) = state.withLock { state in
            let before = state.generation
            if state.running > 0 { state.earlier[before] = state.running }
            state.running = 0
            state.generation = before + 1
            state.target = target
            return (before, Array(state.followers.values))
        }
        for follower in followers { follower(target, generation + 1) }
        return generation
    }

    /// Later calls go to `client`, with nothing in between, and every stream moves over.
    package func connect(to client: Client) { connect(.connection(Connection(client: client, policy: nil))) }

    /// Waits until all calls of `generation` or earlier have ended, or until `deadline` has passed.
    ///
    /// - Returns: The number of calls still in progress then.
    func drain(_ generation: Int, within deadline: Duration, clock: any Clock<Duration>) async -> Int {
        let id = state.withLock { $0.newID() }
        let timer = TaskBox()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    guard state.count(upTo: generation) > 0, !Task.isCancelled else { return true }
                    state.waiters.append(Waiter(id: id, generation: generation, continuation: continuation))
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
        return state.withLock { $0.count(upTo: generation) }
    }

    private func giveUp(_ id: Int) {
        for waiter in state.withLock({ $0.takeWaiters { $0.id == id } }) { waiter.continuation.resume() }
    }

    /// Calls `follower` now and at every exchange, until the returned closure is called.
    func follow(_ follower: @escaping Follower) -> @Sendable () -> Void {
        let (id, target, generation) = state.withLock { state in
            let id = state.newID()
            state.followers[id] = follower
            return (id, state.target, state.generation)
        }
        follower(target, generation)
        return { [weak self] in self?.state.withLock { $0.followers[id] = nil } }
    }
}

import Switchyard
import Synchronization

/// A result that comes once and is waited for by any number.
final class Promise<Value: Sendable, Failure: ClientError>: Sendable {
    typealias Outcome = Result<Value, Failure>

    private struct State {
        var outcome: Outcome?
        var waiters: [Int: CheckedContinuation<Outcome, Never>] = [:]
        var lastWaiter = 0
    }
    private let state = Mutex(State())
    private let cancellation: Failure

    /// - Parameter cancellation: What somebody gets who stops waiting.
    init(cancellation: Failure) { self.cancellation = cancellation }

    var outcome: Outcome? { state.withLock { $0.outcome } }

    /// The first outcome counts, later ones change nothing.
    func resolve(_ outcome: Outcome) {
        let waiters = state.withLock { state -> [CheckedContinuation<Outcome, Never>] in
            guard state.outcome == nil else { return [] }
            state.outcome = outcome
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }

    func value() async -> Outcome {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let outcome = state.withLock { state -> Outcome? in
                    if let outcome = state.outcome { return outcome }
                    if Task.isCancelled { return .failure(cancellation) }
                    state.waiters[id] = waiter
                    return nil
                }
                if let outcome { waiter.resume(returning: outcome) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.resume(returning: .failure(cancellation))
        }
    }
}

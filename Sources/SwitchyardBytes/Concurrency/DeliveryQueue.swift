import Synchronization

/// Carries out side effects in the order in which they were decided, outside of the lock that decided them.
///
/// Whoever finds the queue idle drains it for everybody, so two threads can never deliver a newer state before an older one.
/// An action that adds to its own queue is fine: what it adds has its turn after it.
package final class DeliveryQueue: Sendable {
    package typealias Action = @Sendable () -> Void

    private struct State {
        var actions: [Action] = []
        var isDraining = false
    }
    private let state = Mutex(State())

    package init() {}

    /// To be called where the order is decided: inside of the owner's lock.
    package func add(_ actions: [Action]) {
        guard !actions.isEmpty else { return }
        state.withLock { $0.actions += actions }
    }

    /// To be called after the owner's lock has been released. When it returns, everything added before is done or being done.
    package func drain() {
        while true {
            let actions = state.withLock { state -> [Action] in
                guard !state.isDraining, !state.actions.isEmpty else { return [] }
                state.isDraining = true
                defer { state.actions = [] }
                return state.actions
            }
            guard !actions.isEmpty else { return }
            for action in actions { action() }
            state.withLock { $0.isDraining = false }
        }
    }
}

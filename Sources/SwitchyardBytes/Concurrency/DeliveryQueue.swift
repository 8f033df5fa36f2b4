import Synchronization

/// Runs side effects in the order in which they were added, outside the lock under which they were added.
///
/// The first caller to find the queue idle drains it for all, so two threads can never deliver a newer state before an older
/// one. An action may add to its own queue; the added actions run after it.
package final class DeliveryQueue: Sendable {
    package typealias Action = @Sendable () -> Void

    private struct State {
        var actions: [Action] = []
        var isDraining = false
    }
    private let state = Mutex(State())

    package init() {}

    /// Call this inside the owner's lock, where the order is decided.
    package func add(_ actions: [Action]) {
        guard !actions.isEmpty else { return }
        state.withLock { $0.actions += actions }
    }

    /// Call this after releasing the owner's lock. When it returns, all actions added before have run or are running.
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

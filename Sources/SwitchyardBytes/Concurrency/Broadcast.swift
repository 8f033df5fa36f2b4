import Synchronization

/// A list of listeners. Each gets messages in the order in which they were queued, but outside the lock under which they were
/// queued.
///
/// An owner with a lock queues messages inside it, and calls ``deliver()`` afterwards.
package final class Broadcast<Listener: Sendable>: Sendable {
    package typealias Message = @Sendable (Listener) -> Void

    private struct State {
        var listeners: [Int: Listener] = [:]
        var last = 0
        /// The message for listeners added after the end.
        var finalMessage: Message?
    }

    private let state = Mutex(State())
    private let deliveries = DeliveryQueue()

    package init() {}

    package var count: Int { state.withLock { $0.listeners.count } }
    package var isEmpty: Bool { state.withLock { $0.listeners.isEmpty } }

    /// - Parameter greeting: Delivered before any message queued later. After the end, only the final message is delivered.
    /// - Returns: A closure that removes the listener; calling it twice is harmless.
    package func add(_ listener: Listener, greeting: Message? = nil) -> @Sendable () -> Void {
        let id = state.withLock { state -> Int? in
            if let message = state.finalMessage ?? greeting { deliveries.add([{ message(listener) }]) }
            guard state.finalMessage == nil else { return nil }
            state.last += 1
            state.listeners[state.last] = listener
            return state.last
        }
        guard let id else { return {} }
        return { [weak self] in self?.state.withLock { _ = $0.listeners.removeValue(forKey: id) } }
    }

    /// Queues a message for all current listeners.
    package func queue(_ message: @escaping Message) {
        state.withLock { state in
            guard !state.listeners.isEmpty else { return }
            deliveries.add([{ [listeners = Array(state.listeners.values)] in for one in listeners { message(one) } }])
        }
    }

    /// Delivers queued messages. When it returns, all of them have been delivered or are being delivered.
    package func deliver() { deliveries.drain() }

    package func send(_ message: @escaping Message) {
        queue(message)
        deliver()
    }

    /// Queues the final message: all listeners get it and are removed, and later ones get it as well. Only the first one
    /// counts.
    package func close(_ finalMessage: @escaping Message) {
        state.withLock { state in
            guard state.finalMessage == nil else { return }
            deliveries.add([
                { [listeners = Array(state.listeners.values)] in for one in listeners { finalMessage(one) } }
            ])
            state.listeners = [:]
            state.finalMessage = finalMessage
        }
    }
}

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

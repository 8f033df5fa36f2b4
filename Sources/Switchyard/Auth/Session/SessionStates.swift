import Synchronization

/// Tells the state of a session to everybody who listens, in the order in which it changed.
final class SessionStates: Sendable {
    typealias Listener = SnapshotStream<AuthState, Never>.Continuation

    private struct State {
        var state = AuthState.unknown
        var listeners: [Int: Listener] = [:]
        var lastListener = 0
        var isFinished = false
        /// Decided under the lock, carried out after it, by one thread at a time.
        var deliveries: [@Sendable () -> Void] = []
        var isDelivering = false
    }
    private let box = Mutex(State())

    var listenerCount: Int { box.withLock { $0.listeners.count } }

    func publish(_ state: AuthState) {
        box.withLock { box in
            box.state = state
            for listener in box.listeners.values { box.deliveries.append { listener.yield(state) } }
        }
        deliver()
    }

    func finish() {
        box.withLock { box in
            box.isFinished = true
            for listener in box.listeners.values { box.deliveries.append { listener.finish() } }
            box.listeners = [:]
        }
        deliver()
    }

    func listen(_ listener: Listener) -> @Sendable () -> Void {
        let id = box.withLock { box -> Int? in
            guard !box.isFinished else {
                box.deliveries.append { listener.finish() }
                return nil
            }
            box.lastListener += 1
            box.listeners[box.lastListener] = listener
            let state = box.state
            box.deliveries.append { listener.yield(state) }
            return box.lastListener
        }
        deliver()
        guard let id else { return {} }
        return { [weak self] in self?.box.withLock { _ = $0.listeners.removeValue(forKey: id) } }
    }

    private func deliver() {
        while true {
            let deliveries = box.withLock { box -> [@Sendable () -> Void] in
                guard !box.isDelivering, !box.deliveries.isEmpty else { return [] }
                box.isDelivering = true
                defer { box.deliveries = [] }
                return box.deliveries
            }
            guard !deliveries.isEmpty else { return }
            for delivery in deliveries { delivery() }
            box.withLock { $0.isDelivering = false }
        }
    }
}

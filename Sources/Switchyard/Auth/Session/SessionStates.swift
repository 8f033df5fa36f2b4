import SwitchyardBytes
import Synchronization

/// Tells the state of a session to everybody who listens, in the order in which it changed.
final class SessionStates: Sendable {
    typealias Listener = SnapshotStream<AuthState, Never>.Continuation

    private struct State {
        var state = AuthState.unknown
        var listeners: [Int: Listener] = [:]
        var lastListener = 0
        var isFinished = false
    }
    private let box = Mutex(State())
    private let deliveries = DeliveryQueue()

    var listenerCount: Int { box.withLock { $0.listeners.count } }

    func publish(_ state: AuthState) {
        box.withLock { box in
            box.state = state
            deliveries.add(box.listeners.values.map { listener in { listener.yield(state) } })
        }
        deliveries.drain()
    }

    func finish() {
        box.withLock { box in
            box.isFinished = true
            deliveries.add(box.listeners.values.map { listener in { listener.finish() } })
            box.listeners = [:]
        }
        deliveries.drain()
    }

    func listen(_ listener: Listener) -> @Sendable () -> Void {
        let id = box.withLock { box -> Int? in
            guard !box.isFinished else {
                deliveries.add([{ listener.finish() }])
                return nil
            }
            box.lastListener += 1
            box.listeners[box.lastListener] = listener
            let state = box.state
            deliveries.add([{ listener.yield(state) }])
            return box.lastListener
        }
        deliveries.drain()
        guard let id else { return {} }
        return { [weak self] in self?.box.withLock { _ = $0.listeners.removeValue(forKey: id) } }
    }
}

import Switchyard
import Synchronization

/// Tells whoever watches that there may be something new. A hint says nothing else, may come without need, and several that
/// nobody has taken yet are one.
final class ChangeHints: Sendable {
    private struct State {
        var listeners: [Int: StreamBuffer<Void, Never>] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    func give() {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(()) }
    }

    /// - Returns: A name for ``forget(_:)``.
    func tell(_ listener: StreamBuffer<Void, Never>) -> Int {
        state.withLock { state in
            state.next += 1
            state.listeners[state.next] = listener
            return state.next
        }
    }

    func forget(_ name: Int) { state.withLock { $0.listeners[name] = nil } }
}

import Switchyard
import SwitchyardBytes
import Synchronization

/// Delivers the states of a session to all listeners, in order.
final class SessionStates: Sendable {
    typealias Listener = SnapshotStream<AuthState, Never>.Continuation

    private let state = Mutex(AuthState.unknown)
    private let listeners = Broadcast<Listener>()

    var listenerCount: Int { listeners.count }

    func publish(_ new: AuthState) {
        state.withLock { state in
            state = new
            listeners.queue { $0.yield(new) }
        }
        listeners.deliver()
    }

    func finish() {
        listeners.close { $0.finish() }
        listeners.deliver()
    }

    func listen(_ listener: Listener) -> @Sendable () -> Void {
        defer { listeners.deliver() }
        return state.withLock { state in listeners.add(listener) { [state] in $0.yield(state) } }
    }
}

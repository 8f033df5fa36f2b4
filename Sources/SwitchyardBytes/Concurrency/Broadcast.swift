import Synchronization

/// Those who listen to something: each is told in the order in which things were decided, outside of the lock that decided
/// them.
///
/// An owner with a lock of its own decides within it what is to be told, and calls ``deliver()`` after it.
package final class Broadcast<Listener: Sendable>: Sendable {
    package typealias Message = @Sendable (Listener) -> Void

    private struct State {
        var listeners: [Int: Listener] = [:]
        var last = 0
        /// What whoever comes after the end is told.
        var farewell: Message?
    }

    private let state = Mutex(State())
    private let deliveries = DeliveryQueue()

    package init() {}

    package var count: Int { state.withLock { $0.listeners.count } }
    package var isEmpty: Bool { state.withLock { $0.listeners.isEmpty } }

    /// - Parameter greeting: Told before anything that is decided later. After the end, only the farewell is.
    /// - Returns: What takes the listener out again; twice is fine.
    package func add(_ listener: Listener, greeting: Message? = nil) -> @Sendable () -> Void {
        let id = state.withLock { state -> Int? in
            if let message = state.farewell ?? greeting { deliveries.add([{ message(listener) }]) }
            guard state.farewell == nil else { return nil }
            state.last += 1
            state.listeners[state.last] = listener
            return state.last
        }
        guard let id else { return {} }
        return { [weak self] in self?.state.withLock { _ = $0.listeners.removeValue(forKey: id) } }
    }

    /// Decides what everybody who listens now will be told.
    package func queue(_ message: @escaping Message) {
        state.withLock { state in
            guard !state.listeners.isEmpty else { return }
            deliveries.add([{ [listeners = Array(state.listeners.values)] in for one in listeners { message(one) } }])
        }
    }

    /// Tells what has been decided. When it returns, everything is told or being told.
    package func deliver() { deliveries.drain() }

    package func tell(_ message: @escaping Message) {
        queue(message)
        deliver()
    }

    /// Decides the end: everybody is told so and let go, and whoever comes later is told the same. Only the first counts.
    package func close(_ farewell: @escaping Message) {
        state.withLock { state in
            guard state.farewell == nil else { return }
            deliveries.add([{ [listeners = Array(state.listeners.values)] in for one in listeners { farewell(one) } }])
            state.listeners = [:]
            state.farewell = farewell
        }
    }
}

import Switchyard
import Synchronization

/// The connection of one device: whether it is there and how slow it is. The clients of a device share one.
///
/// ```swift
/// let network = MockNetwork()
/// let storage = MockStorageClient(backend, network: network)
/// network.isOnline = false        // reads come from the cache, writes wait
/// ```
public final class MockNetwork: Sendable {
    private struct State {
        var isOnline = true
        var latency = Duration.zero
        var listeners: [Int: @Sendable (Bool) -> Void] = [:]
        var lastListener = 0
    }
    private let state = Mutex(State())
    private let isImmediate = Atomic(true)
    /// Pauses are taken on this clock.
    public let clock: any Clock<Duration>

    /// - Parameters:
    ///   - clock: What pauses are taken on.
    ///   - latency: How long every call waits before it reaches the server.
    public init(clock: any Clock<Duration> = ContinuousClock(), latency: Duration = .zero) {
        self.clock = clock
        self.latency = latency
    }

    /// Whether calls reach the server at all.
    public var isOnline: Bool {
        get { state.withLock { $0.isOnline } }
        set {
            let listeners = state.withLock { state -> [@Sendable (Bool) -> Void] in
                guard state.isOnline != newValue else { return [] }
                state.isOnline = newValue
                return Array(state.listeners.values)
            }
            for listener in listeners { listener(newValue) }
        }
    }

    public var latency: Duration {
        get { state.withLock { $0.latency } }
        set {
            state.withLock { state in
                state.latency = newValue
                isImmediate.store(newValue <= .zero, ordering: .relaxed)
            }
        }
    }

    var isInstant: Bool { isImmediate.load(ordering: .relaxed) }

    /// Waits as long as a call takes to reach the server.
    ///
    /// - Returns: `false` if the task was cancelled meanwhile.
    func travel() async -> Bool {
        let latency = latency
        guard latency > .zero else { return true }
        do {
            try await clock.sleep(for: latency)
            return true
        } catch {
            return false
        }
    }

    /// - Returns: What ends it.
    func onChange(_ listener: @escaping @Sendable (Bool) -> Void) -> Once {
        let id = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = listener
            return state.lastListener
        }
        return Once { [weak self] in self?.state.withLock { _ = $0.listeners.removeValue(forKey: id) } }
    }
}

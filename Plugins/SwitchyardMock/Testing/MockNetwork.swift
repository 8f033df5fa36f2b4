import Switchyard
import SwitchyardBytes
import Synchronization

/// The connection of one device, with its availability and latency. The clients of a device share it.
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
    }
    private let state = Mutex(State())
    private let listeners = Broadcast<@Sendable (Bool) -> Void>()
    private let isImmediate = Atomic(true)
    private let turns = CallLimiter()
    /// The clock for delays.
    public let clock: any Clock<Duration>

    /// - Parameters:
    ///   - clock: The clock for delays.
    ///   - latency: How long every call waits before it reaches the server.
    public init(clock: any Clock<Duration> = ContinuousClock(), latency: Duration = .zero) {
        self.clock = clock
        self.latency = latency
    }

    /// Whether calls reach the server at all.
    public var isOnline: Bool {
        get { state.withLock { $0.isOnline } }
        set {
            state.withLock { state in
                guard state.isOnline != newValue else { return }
                state.isOnline = newValue
                listeners.queue { $0(newValue) }
            }
            listeners.deliver()
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

    /// The limits for concurrent calls. Without latency, a call arrives at once and occupies no turn.
    var callLimits: CallLimits {
        get { turns.limits }
        set { turns.limits = newValue }
    }
    /// The number of calls waiting for their turn.
    package var waitingCallCount: Int { turns.waitingCount }

    enum CallOutcome { case arrived, cancelled, refused }

    /// Sends a call to the server: waits for a turn, then for the latency.
    func simulateCall() async -> CallOutcome {
        guard latency > .zero else { return .arrived }
        switch await turns.take() {
        case .taken: break
        case .cancelled: return .cancelled
        case .refused: return .refused
        }
        defer { turns.giveBack() }
        return await delay() ? .arrived : .cancelled
    }

    /// Waits for the latency of one call.
    ///
    /// - Returns: `false` if the task was cancelled meanwhile.
    func delay() async -> Bool {
        let latency = latency
        guard latency > .zero else { return true }
        do {
            try await clock.sleep(for: latency)
            return true
        } catch {
            return false
        }
    }

    /// - Returns: An object that removes the listener.
    func onChange(_ listener: @escaping @Sendable (Bool) -> Void) -> Once { Once(listeners.add(listener)) }
}

extension StorageError {
    /// The error of calls, and of queued writes, while ``MockNetwork/isOnline`` is `false`.
    static let mockIsOffline = StorageError(
        .unavailable, "The mock's network is off. Set isOnline of its MockNetwork to true.")
}

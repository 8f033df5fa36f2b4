import Switchyard
import SwitchyardBytes
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
    }
    private let state = Mutex(State())
    private let listeners = Broadcast<@Sendable (Bool) -> Void>()
    private let isImmediate = Atomic(true)
    private let turns = CallTurns()
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

    /// How many calls are on their way at a time. One without latency is there at once, and holds up nobody.
    var callLimits: CallLimits {
        get { turns.limits }
        set { turns.limits = newValue }
    }
    /// How many calls wait for their turn.
    package var waitingCallCount: Int { turns.waitingCount }

    enum Journey { case arrived, cancelled, refused }

    /// A call's way to the server, from its turn on.
    func travel() async -> Journey {
        guard latency > .zero else { return .arrived }
        switch await turns.take() {
        case .taken: break
        case .cancelled: return .cancelled
        case .refused: return .refused
        }
        defer { turns.giveBack() }
        return await delay() ? .arrived : .cancelled
    }

    /// Waits as long as anything takes to reach the server.
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

    /// - Returns: What ends it.
    func onChange(_ listener: @escaping @Sendable (Bool) -> Void) -> Once { Once(listeners.add(listener)) }
}

extension StorageError {
    /// What calls fail of, and writes wait for, while ``MockNetwork/isOnline`` is `false`.
    static let mockIsOffline = StorageError(
        .unavailable, "The mock's network is off. Set isOnline of its MockNetwork to true.")
}

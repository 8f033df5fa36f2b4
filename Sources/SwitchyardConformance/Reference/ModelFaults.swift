import SwitchyardSync
import Synchronization

/// Network faults between a device and a ``ModelServer``. There are none by default.
///
/// Probabilities are percentages of the messages of their kind, drawn from a seeded sequence.
public struct ModelFaults: Sendable, Hashable {
    /// A request that never reaches the server.
    public var lostRequests = 0
    /// A request that is carried out but whose answer is lost.
    public var lostAnswers = 0
    /// A commit that arrives again, after later ones.
    public var lateCopies = 0
    /// A commit to tables that waits for a lock: its answer is lost, and it takes effect later, or never.
    public var lateWrites = 0
    /// A change of tables of which a stream gets no hint, so that it notices with the next one, or with
    /// ``ModelServer/checkStreams()``.
    public var lostHints = 0
    /// A stream event that arrives twice.
    public var doubledEvents = 0
    /// A stream that ends instead of delivering its next event.
    public var brokenStreams = 0
    /// The maximum delay of a message; each takes a random part of it. Stream events keep their order.
    public var longestDelay = Duration.zero

    public init() {}
}

/// The current faults and random state.
struct ModelFaultState {
    var faults = ModelFaults()
    let seed: UInt64
    private var state: UInt64

    init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    mutating func happens(_ percent: Int) -> Bool { percent > 0 && Int(next() % 100) < percent }

    mutating func delay() -> Duration {
        guard faults.longestDelay > .zero else { return .zero }
        return faults.longestDelay * Int(next() % 101) / 100
    }

    /// SplitMix64.
    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var result = state
        result = (result ^ (result >> 30)) &* 0xBF58_476D_1CE4_E5B9
        result = (result ^ (result >> 27)) &* 0x94D0_49BB_1331_11EB
        return result ^ (result >> 31)
    }
}

extension ModelServer {
    /// Makes messages get lost, duplicated and delayed from now on; without faults, all delayed messages arrive.
    ///
    /// - Parameters:
    ///   - faults: What happens, and how often.
    ///   - seed: Equal seeds give equal sequences.
    public func setFaults(_ faults: ModelFaults, seed: UInt64 = 1) {
        state.withLock {
            $0.faultState = ModelFaultState(seed: seed)
            $0.faultState.faults = faults
        }
        guard faults == ModelFaults() else { return }
        deliverLateCopies()
        releaseLocks()
    }

    func happens(_ fault: any KeyPath<ModelFaults, Int> & Sendable) -> Bool {
        state.withLock { $0.faultState.happens($0.faultState.faults[keyPath: fault]) }
    }

    func delay() -> Duration { state.withLock { $0.faultState.delay() } }

    func keepLateCopy(of batch: OutgoingBatch) { state.withLock { $0.late.append(batch) } }

    /// Delivers delayed commits; those that the server has already received have no effect.
    public func deliverLateCopies() {
        let late = state.withLock { state in
            defer { state.late = [] }
            return state.late
        }
        for batch in late { _ = try? commit(batch.writes, id: batch.id) }
    }
}

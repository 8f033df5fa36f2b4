import SwitchyardSync
import Synchronization

/// What the way between a device and a ``ModelServer`` does to messages. Nothing goes wrong by default.
///
/// Chances are in percent of the messages of their kind, drawn from a seeded sequence.
public struct ModelFaults: Sendable, Hashable {
    /// A request that never reaches the server.
    public var lostRequests = 0
    /// A request that is carried out, and nobody hears of it.
    public var lostAnswers = 0
    /// A commit that arrives once more, after later ones.
    public var lateCopies = 0
    /// A stream's event that comes twice.
    public var doubledEvents = 0
    /// A stream that ends in the place of its next event.
    public var brokenStreams = 0
    /// The longest that a message is on its way; each takes a random part of it. Those of a stream keep their order.
    public var longestDelay = Duration.zero

    public init() {}
}

/// The faults in force, and chance.
struct ModelWeather {
    var faults = ModelFaults()
    private var state: UInt64

    init(seed: UInt64) { state = seed }

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
    /// Has messages get lost, doubled and delayed from now on; without faults, everything that is still late arrives.
    ///
    /// - Parameters:
    ///   - faults: What happens, and how often.
    ///   - seed: Equal seeds draw equal chances.
    public func setFaults(_ faults: ModelFaults, seed: UInt64 = 1) {
        state.withLock {
            $0.weather = ModelWeather(seed: seed)
            $0.weather.faults = faults
        }
        if faults == ModelFaults() { deliverLateCopies() }
    }

    func happens(_ fault: any KeyPath<ModelFaults, Int> & Sendable) -> Bool {
        state.withLock { $0.weather.happens($0.weather.faults[keyPath: fault]) }
    }

    func delay() -> Duration { state.withLock { $0.weather.delay() } }

    func keepLateCopy(of batch: OutgoingBatch) { state.withLock { $0.late.append(batch) } }

    /// Commits that were on their way for long arrive; what the server has had before has no effect.
    public func deliverLateCopies() {
        let late = state.withLock { state in
            defer { state.late = [] }
            return state.late
        }
        for batch in late { _ = try? commit(batch.writes, id: batch.id) }
    }
}

/// The state of the connection.
package enum OnlineState: Sendable, Hashable {
    /// Connecting, or no connection is needed.
    case unknown
    case online
    /// An attempt failed or took too long, or the network is switched off: listeners are served from the cache.
    case offline
}

/// Decides when the connection counts as lost: after one failure, or 10 s without an answer.
struct OnlineStateTracker {
    private(set) var state = OnlineState.unknown
    private var failures = 0

    enum TimerChange { case none, start, cancel }

    /// The stream of changes is about to be opened.
    mutating func streamStarts() -> TimerChange {
        guard failures == 0 else { return .none }
        state = .unknown
        return .start
    }

    /// The stream broke while it was needed.
    mutating func streamFailed() -> TimerChange {
        guard state != .online else {
            state = .unknown
            return .none
        }
        failures += 1
        state = .offline
        return .cancel
    }

    /// A message may have arrived at the same moment.
    mutating func timedOut() {
        if state == .unknown { state = .offline }
    }

    /// Sets a state that is certain, or resets it.
    mutating func set(_ new: OnlineState) -> TimerChange {
        failures = 0
        state = new
        return .cancel
    }
}

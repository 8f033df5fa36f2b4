/// Decides when a transfer is too slow. Pure: the amounts and times are passed in.
struct IdleWatch {
    private let limit: Duration
    private let wanted: Int
    private var moved = 0
    private var isExtended = false
    private(set) var deadline: ContinuousClock.Instant

    init(limit: Duration, minimumSpeed: Int, now: ContinuousClock.Instant) {
        self.limit = limit
        let (seconds, attoseconds) = limit.components
        wanted = max(1, Int((Double(seconds) + Double(attoseconds) * 1e-18) * Double(minimumSpeed)))
        deadline = now + limit
    }

    mutating func moved(_ count: Int) {
        moved += count
    }

    /// Restarts the watch: after a pause, and when a head is complete.
    mutating func restart(at now: ContinuousClock.Instant) {
        moved = 0
        isExtended = false
        deadline = now + limit
    }

    /// Whether the transfer has stalled. Restarts the watch if enough was transferred.
    ///
    /// A caller that asks long after the deadline was busy, and could not read either: the transfer gets that time again, once.
    mutating func isStalled(at now: ContinuousClock.Instant) -> Bool {
        guard now >= deadline else { return false }
        guard moved < wanted else {
            restart(at: now)
            return false
        }
        let delay = now - deadline
        guard !isExtended, delay > limit / 8 else { return true }
        isExtended = true
        deadline = now + min(delay, limit)
        return false
    }
}

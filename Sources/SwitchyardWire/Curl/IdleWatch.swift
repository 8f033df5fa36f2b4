/// Decides when a transfer is too slow. Pure: the amounts and times are passed in.
struct IdleWatch {
    private let limit: Duration
    private let wanted: Int
    private var moved = 0
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
        deadline = now + limit
    }

    /// Whether the transfer has stalled. Restarts the watch if enough was transferred.
    mutating func isStalled(at now: ContinuousClock.Instant) -> Bool {
        guard now >= deadline else { return false }
        if moved < wanted { return true }
        restart(at: now)
        return false
    }
}

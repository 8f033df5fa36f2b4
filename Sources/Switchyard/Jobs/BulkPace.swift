/// Decides how much may be written at a time: more batches while all goes well, half as many when the server is overloaded
/// and, optionally, no more per second than a new collection can take.
struct BulkPace: Sendable {
    private let maximum: Int
    private let rampFrom: Int?
    private var exactWidth: Double
    /// The time until which the writes so far use up the rate.
    private var usedUpTo = Duration.zero

    private static let rampStep = Duration.seconds(300)
    private static let rampFactor = 1.5

    init(parallel: Int, rampFrom: Int?) {
        maximum = max(1, parallel)
        self.rampFrom = rampFrom.map { max(1, $0) }
        exactWidth = min(2, Double(maximum))
    }

    /// How many batches may be in flight.
    var width: Int { max(1, Int(exactWidth)) }

    mutating func note(isOverloaded: Bool) {
        exactWidth = isOverloaded ? max(1, exactWidth / 2) : min(Double(maximum), exactWidth + 1)
    }

    /// How long to wait before `count` more writes.
    ///
    /// - Parameter now: Since the beginning.
    mutating func pause(before count: Int, at now: Duration) -> Duration {
        guard let rate = rate(at: now) else { return .zero }
        let start = max(usedUpTo, now)
        usedUpTo = start + .seconds(Double(count) / rate)
        return start - now
    }

    /// Writes per second; `nil` for no limit.
    func rate(at now: Duration) -> Double? {
        guard let rampFrom else { return nil }
        var rate = Double(rampFrom)
        for _ in 0..<min(Int(now / Self.rampStep), 60) { rate *= Self.rampFactor }
        return rate
    }
}

/// Contenders that take turns, so that other activity on the machine affects all of them equally.
struct BenchComparison: Sendable {
    struct Contender: Sendable {
        let name: String
        fileprivate let round: @Sendable () async throws -> Any

        /// The result of a round is kept until the clock has stopped, so that nothing is optimized away and freeing it is not
        /// measured.
        init(_ name: String, _ round: @escaping @Sendable () async throws -> some Any) {
            self.name = name
            self.round = { try await round() }
        }
    }

    /// The times of one contender.
    struct Result: Sendable {
        let name: String
        /// Wall-clock seconds, one entry per round.
        let wall: [Double]
        /// The processor seconds of the whole process.
        let cpu: [Double]
        /// How often a thread of the process had to be woken.
        let woken: [Double]

        var seconds: Double { Statistics.median(wall) }
        var cpuSeconds: Double { Statistics.median(cpu) }
        var wakeUps: Double { Statistics.median(woken) }
    }

    let rounds: Int
    let warmUps: Int

    init(rounds: Int, warmUps: Int = 1) {
        self.rounds = rounds
        self.warmUps = warmUps
    }

    /// The results in the order of the contenders.
    func run(_ contenders: [Contender]) async throws -> [Result] {
        for _ in 0..<warmUps {
            for contender in contenders { _ = try await contender.round() }
        }
        var wall = [[Double]](repeating: [], count: contenders.count)
        var (cpu, woken) = (wall, wall)
        for round in 0..<rounds {
            for turn in contenders.indices {
                // Rotate the order, so that none is always first.
                let index = (turn + round) % contenders.count
                let (before, asleep, clock) = (Usage.cpuSeconds, Usage.wakeUps, ContinuousClock().now)
                let outcome = try await contenders[index].round()
                wall[index].append((ContinuousClock().now - clock).inSeconds)
                cpu[index].append(Usage.cpuSeconds - before)
                woken[index].append(Double(Usage.wakeUps - asleep))
                withExtendedLifetime(outcome) {}
            }
        }
        return contenders.indices.map {
            Result(name: contenders[$0].name, wall: wall[$0], cpu: cpu[$0], woken: woken[$0])
        }
    }
}

extension Duration {
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

enum Statistics {
    /// NaN if there are no values.
    static func median(_ values: [Double]) -> Double { percentile(values, 0.5) }

    /// - Parameter share: 0.99 for the value that 99 of 100 do not exceed; interpolated between two values.
    static func percentile(_ values: [Double], _ share: Double) -> Double {
        guard !values.isEmpty else { return .nan }
        let sorted = values.sorted()
        let place = share * Double(sorted.count - 1)
        let lower = Int(place.rounded(.down))
        let upper = min(lower + 1, sorted.count - 1)
        return sorted[lower] + (sorted[upper] - sorted[lower]) * (place - Double(lower))
    }
}

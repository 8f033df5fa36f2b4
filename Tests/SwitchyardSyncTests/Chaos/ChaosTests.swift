import Foundation
import SwitchyardSync
import SwitchyardTestRuns
import SwitchyardTestSupport
import Testing

/// Random schedules of everything that can go wrong; each must end in the server's truth.
///
/// `SWITCHYARD_CHAOS_SEEDS` is how many schedules run in memory (a tenth of it over SQLite), `SWITCHYARD_CHAOS_SEED` runs
/// the one that failed again and prints what it did; with `SWITCHYARD_CHAOS_STORE=sqlite`, over SQLite.
@Suite struct ChaosTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let only = environment["SWITCHYARD_CHAOS_SEED"].flatMap { UInt64($0) }
    private static let count =
        environment["SWITCHYARD_CHAOS_SEEDS"].flatMap { Int($0) } ?? RunSize.full(2000, part: 200)

    @Test(.beside(inMemory)) func `Thousands of random schedules all end in the server's truth`() async throws {
        if let only = Self.only, Self.environment["SWITCHYARD_CHAOS_STORE"] != "sqlite" {
            return try replay(Simulation(seed: only, keepsTrace: true))
        }
        Self.report(try await Self.inMemory.value, in: "memory")
    }

    @Test(.beside(inFiles)) func `Random schedules over SQLite all end in the server's truth`() async throws {
        if let only = Self.only, Self.environment["SWITCHYARD_CHAOS_STORE"] == "sqlite" {
            return try Self.overSQLite(seed: only, keepsTrace: true, replay)
        }
        Self.report(try await Self.inFiles.value, in: "sqlite")
    }

    private static let inMemory = SideRun {
        try await play(1...UInt64(count), in: "memory") { try Simulation(seed: $0).run() }
    }

    private static let inFiles = SideRun {
        try await play(1...UInt64(max(1, count / 10)), in: "sqlite") { seed in
            try overSQLite(seed: seed) { try $0.run() }
        }
    }

    /// - Returns: What the schedules that failed said.
    private static func play(
        _ seeds: ClosedRange<UInt64>, in store: String, _ body: @escaping @Sendable (UInt64) throws -> Void
    ) async throws -> [String] {
        let half: @Sendable (UInt64) async throws -> [String] = { parity in
            try await onOwnThread {
                seeds.filter { $0 % 2 == parity }.compactMap { seed in
                    do {
                        try body(seed)
                        return nil
                    } catch {
                        return "\(error)"
                    }
                }
            }
        }
        async let even = half(0)
        async let odd = half(1)
        let failures = try await even + odd
        print("chaos: \(seeds.count - failures.count) of \(seeds.count) schedules in \(store)")
        return failures
    }

    private static func report(_ failures: [String], in store: String) {
        for failure in failures.prefix(5) {
            Issue.record("\(failure). Replay it: SWITCHYARD_CHAOS_STORE=\(store) SWITCHYARD_CHAOS_SEED=…")
        }
        #expect(failures.isEmpty)
    }

    private static func overSQLite(
        seed: UInt64, keepsTrace: Bool = false, _ body: (Simulation) throws -> Void
    ) throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        try body(
            Simulation(seed: seed, keepsTrace: keepsTrace) { device in
                let place = folder.file("c\(device)")
                return { try SQLiteStore(folder: place) }
            })
    }

    private func replay(_ simulation: Simulation) throws {
        defer { print(simulation.trace, "chaos: digest \(simulation.digest)") }
        try simulation.run()
    }

    @Test func `A seed replays exactly, also over another store`() throws {
        var merged = 0
        for seed in 1...40 as ClosedRange<UInt64> {
            let first = try Simulation(seed: seed)
            try first.run()
            let second = try Simulation(seed: seed)
            try second.run()
            #expect(first.digest == second.digest, "seed \(seed)")
            merged += first.mergedCount
            guard seed.isMultiple(of: 4) else { continue }
            try Self.overSQLite(seed: seed) {
                try $0.run()
                #expect(first.digest == $0.digest, "seed \(seed) over SQLite")
            }
        }
        #expect(merged > 0, "schedules merge writes that wait")
    }
}

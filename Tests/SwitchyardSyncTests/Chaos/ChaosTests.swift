import Foundation
import Testing

@Suite struct ChaosTests {
    @Test func `A thousand random schedules all end in the server's truth`() throws {
        let environment = ProcessInfo.processInfo.environment
        if let only = environment["SWITCHYARD_CHAOS_SEED"].flatMap({ UInt64($0) }) {
            let trace = try Simulation(seed: only).run(steps: 150)
            let digest = trace.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
            return print("chaos: seed \(only) passed, trace \(String(digest, radix: 16))")
        }
        var failures: [String] = []
        for seed in 1...UInt64(environment["SWITCHYARD_CHAOS_SEEDS"].flatMap { Int($0) } ?? 1000) {
            do { _ = try Simulation(seed: seed).run(steps: 150) } catch { failures.append("\(error)") }
        }
        #expect(failures.isEmpty, "\(failures.count) failed: \(failures.prefix(3))")
    }

    @Test func `A seed replays exactly`() throws {
        for seed in 1...50 as ClosedRange<UInt64> {
            let first = try Simulation(seed: seed).run(steps: 150)
            let second = try Simulation(seed: seed).run(steps: 150)
            #expect(first == second, "seed \(seed)")
        }
    }
}

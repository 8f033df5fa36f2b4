import Switchyard
import SwitchyardMock

/// The cost of a write that many live queries watch, and of one next to a large collection that none of them match.
struct MockWriteBench: BenchSection {
    let name = "mock writes"

    func run(_ bench: Bench) async throws {
        let watchers = 1_000
        let (few, many) = (1_000, bench.settings.count(100_000, quick: 10_000))
        let small = try await WatchedItems(watchers: watchers, others: few)
        let large = try await WatchedItems(watchers: watchers, others: many)
        let unwatched = bench.settings.count(5_000, quick: 500)
        let results = try await BenchComparison(rounds: bench.settings.count(31, quick: 3)).run([
            BenchComparison.Contender("watched, few others") { try await small.writeWatched() },
            BenchComparison.Contender("watched, many others") { try await large.writeWatched() },
            BenchComparison.Contender("unwatched, few others") { try await small.writeOthers(unwatched, among: few) },
            BenchComparison.Contender("unwatched, many others") { try await large.writeOthers(unwatched, among: few) },
            BenchComparison.Contender("unmatched") { try await large.writeUnmatched(1) },
        ])
        for one in [small, large] { one.end() }
        let milliseconds = results.map { $0.seconds * 1_000 }
        let reach = "a write reaches \(watchers) live queries over 10 000 documents"
        await bench.report(reach, milliseconds[0], "ms", .atMost(20))
        await bench.report("the same, beside \(many) documents that do not match", milliseconds[1], "ms", .atMost(20))
        await bench.report(
            "beside \(many) ÷ beside \(few) documents", milliseconds[1] / milliseconds[0], "×", .atMost(1.5))
        let perWrite = milliseconds[2...3].map { $0 * 1_000 / Double(unwatched) }
        await bench.report("a write among \(few) documents that no one watches", perWrite[0], "µs")
        await bench.report("a write among \(many) documents that no one watches", perWrite[1], "µs")
        await bench.report("among \(many) ÷ among \(few) documents", perWrite[1] / perWrite[0], "×", .atMost(2))
        await bench.report("a write that \(watchers) live queries look at and none matches", milliseconds[4], "ms")
    }
}

import Foundation
import Switchyard
import SwitchyardSync

/// The engine's work between a server's events and the snapshot for a listener.
struct LiveQuerySection: BenchSection {
    let name = "live queries"

    func run(_ bench: Bench) async throws {
        let count = bench.settings.count(10_000, quick: 1000)
        let folder = SyncSample.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try await first(bench, count, "in memory", .atMost(75)) { MemoryStore() }
        try await first(bench, count, "over SQLite", nil) {
            try SQLiteStore(folder: folder.appendingPathComponent(UUID().uuidString))
        }
        try await change(bench, count, "in memory", .atMost(100)) { MemoryStore() }
        try await change(bench, count, "over SQLite", nil) {
            try SQLiteStore(folder: folder.appendingPathComponent(UUID().uuidString))
        }
        try await growth(bench)
    }

    private static let query = LiveQuery.query(Query(in: "items"))

    private func first(
        _ bench: Bench, _ count: Int, _ place: String, _ mark: Figure.Mark?, _ store: () throws -> any SyncStore
    ) async throws {
        let documents = (0..<count).map { SyncSample.document($0) }.shuffled()
        var times: [Double] = []
        for _ in 0..<bench.settings.count(9, quick: 1) {
            let setup = try SyncBenchSetup(store())
            setup.feed(.listen(1, Self.query, ViewOptions()))
            let before = Usage.cpuSeconds
            setup.answer(2, documents)
            times.append((Usage.cpuSeconds - before) * 1000)
            guard setup.snapshots[1]?.documents.count == count else { throw BenchFailure("documents are missing") }
            setup.machine.close()
        }
        await bench.report(
            "first snapshot of \(count) documents, \(place)", Statistics.median(times), "ms CPU", mark)
    }

    private func change(
        _ bench: Bench, _ count: Int, _ place: String, _ mark: Figure.Mark?, _ store: () throws -> any SyncStore
    ) async throws {
        let time = try changeTime(among: count, changes: bench.settings.count(2000, quick: 100), store())
        await bench.report("one changed document of \(count), \(place)", time * 1e6, "µs CPU", mark)
    }

    /// Seconds of processor time from the event of a changed document to the listener's snapshot.
    private func changeTime(among count: Int, changes: Int, _ store: any SyncStore) throws -> Double {
        let setup = try SyncBenchSetup(store)
        defer { setup.machine.close() }
        setup.feed(.listen(1, Self.query, ViewOptions()))
        setup.answer(2, (0..<count).map { SyncSample.document($0) })
        let changed = (1...changes).map { SyncSample.document($0 * 7919 % count, mark: $0) }
        let raised = setup.raised
        let before = Usage.cpuSeconds
        for (index, document) in changed.enumerated() {
            setup.feed(.watched(.changed(document, targets: [2])))
            setup.feed(.watched(.snapshot(version: Timestamp(microseconds: 1_000_001 + Int64(index)), token: [2])))
        }
        let time = (Usage.cpuSeconds - before) / Double(changes)
        guard setup.raised == raised + changes else { throw BenchFailure("a change was not shown") }
        return time
    }

    private func growth(_ bench: Bench) async throws {
        let changes = bench.settings.count(2000, quick: 100)
        let large = bench.settings.count(100_000, quick: 10_000)
        let few = try changeTime(among: 1000, changes: changes, MemoryStore())
        let many = try changeTime(among: large, changes: changes, MemoryStore())
        await bench.report("one changed document of \(large) ÷ one of 1000", many / few, "×", .atMost(2))
    }
}

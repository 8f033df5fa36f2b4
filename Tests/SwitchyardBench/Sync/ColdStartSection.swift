import Foundation
import Switchyard
import SwitchyardSync

/// The time in which a new process opens a large cache and a listener gets its first snapshot from it.
struct ColdStartSection: BenchSection {
    var name = "cold start"
    /// How many documents the cache has.
    var total = 100_000
    /// How many documents one query fetches.
    private static let part = 100_000

    func run(_ bench: Bench) async throws {
        let folder = SyncSample.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let total = bench.settings.count(total, quick: total / 10)
        try fill(folder, total)
        for (task, title, mark) in [
            ("resumed", "50 results of a query that was listened to", Figure.Mark.atMost(50)),
            ("few", "a collection of 50 documents", .atMost(50)),
            ("scan", "50 results of a query that was never asked", nil),
        ] {
            let rounds = bench.settings.count(mark == nil ? 3 : 9, quick: 1)
            let time = try await bench.inChild("\(task):\(folder.path)", rounds: rounds)
            await bench.report("\(total) cached, first snapshot: \(title)", time, "ms", mark)
        }
    }

    private static func query(_ task: Substring) throws -> Query {
        switch task {
        case "few": Query(in: "few")
        case "scan": Query(in: "items").where("rank", .greaterThanOrEqual, 20).limited(to: 50)
        default: Query(in: "items").where("rank", .lessThan, 50).ordered(by: "rank")
        }
    }

    /// Fills the cache through the engine: a large collection, or ranges of it; a small one; and a query that is then confirmed.
    private func fill(_ folder: URL, _ total: Int) throws {
        let setup = try SyncBenchSetup(SQLiteStore(folder: folder))
        var listeners = 0
        func fetch(_ query: Query, _ documents: [DocumentSnapshot]) {
            listeners += 1
            setup.feed(.listen(listeners, .query(query), ViewOptions()))
            setup.answer(2 * listeners, documents)
            setup.feed(.unlisten(listeners))
        }
        for start in stride(from: 0, to: total, by: Self.part) {
            let numbers = start..<min(start + Self.part, total)
            var query = Query(in: "items")
            if total > Self.part {
                query = query.where("rank", .greaterThanOrEqual, .integer(Int64(numbers.lowerBound)))
                    .where("rank", .lessThan, .integer(Int64(numbers.upperBound)))
            }
            fetch(query, numbers.map { SyncSample.document($0) })
        }
        fetch(Query(in: "few"), (0..<50).map { SyncSample.document($0, in: "few") })
        fetch(try Self.query("resumed"), (0..<50).map { SyncSample.document($0) })
        setup.machine.close()
    }

    /// Milliseconds until the first snapshot.
    func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
        guard let colon = task.firstIndex(of: ":") else { throw BenchFailure("no folder") }
        let folder = URL(fileURLWithPath: String(task[task.index(after: colon)...]), isDirectory: true)
        let query = try Self.query(task[..<colon])
        let start = ContinuousClock().now
        let client = SyncedStorageClient(driver: SilentDriver(), storage: .folder(folder))
        var snapshots = client.snapshots(of: query, options: ListenOptions()).makeAsyncIterator()
        let first = try await snapshots.next()
        let time = (ContinuousClock().now - start).inSeconds * 1000
        guard first?.documents.count == 50 else {
            throw BenchFailure("\(first?.documents.count ?? 0) documents instead of 50")
        }
        return time
    }
}

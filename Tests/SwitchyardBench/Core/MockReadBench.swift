import Switchyard
import SwitchyardMock

/// The mock's speed for reads of single documents, and for a query without an index.
struct MockReadBench: BenchSection {
    let name = "mock reads"

    func run(_ bench: Bench) async throws {
        try await reads(bench)
        try await query(bench)
    }

    // MARK: Single documents

    private func reads(_ bench: Bench) async throws {
        let storage: any StorageClient = MockStorageClient(try MockSample.backend(documents: 1_000))
        let paths = try (0..<1_000).map { try StoragePath(validating: "items/\($0)") }
        let count = bench.settings.count(300_000, quick: 30_000)
        let rate = try await median(bench.settings.count(5, quick: 1)) {
            var found = 0
            let duration = try await ContinuousClock().measure {
                for index in 0..<count where try await storage.document(paths[index % 1_000]).exists { found += 1 }
            }
            guard found == count else { throw BenchFailure("a document is missing") }
            return Double(count) / duration.inSeconds
        }
        await bench.report("single-document reads, one task", rate, "1/s", .atLeast(300_000))
    }

    // MARK: A query

    private func query(_ bench: Bench) async throws {
        let count = bench.settings.count(100_000, quick: 20_000)
        let storage: any StorageClient = MockStorageClient(try MockSample.backend(documents: count))
        let query = Query(in: "items").where("state", .equal, "open").ordered(by: "score", .descending)
            .limited(to: 50)
        let time = try await median(bench.settings.count(15, quick: 3)) {
            var results = 0
            let duration = try await ContinuousClock().measure { results = try await storage.documents(query).count }
            guard results == 50 else { throw BenchFailure("the query found \(results) documents") }
            return duration.inSeconds * 1_000
        }
        await bench.report("query with filter, order and limit 50 over \(count)", time, "ms", .atMost(60))
    }

    private func median(_ rounds: Int, _ measure: () async throws -> Double) async throws -> Double {
        var values: [Double] = []
        for _ in 0..<rounds { values.append(try await measure()) }
        return Statistics.median(values)
    }
}

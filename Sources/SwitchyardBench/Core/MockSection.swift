import Switchyard
import SwitchyardMock
import Synchronization

/// How fast the mock answers: single documents, a query without an index, and a write that many live queries watch.
struct MockSection: BenchSection {
    let name = "mock"

    func run(_ bench: Bench) async throws {
        try await reads(bench)
        try await query(bench)
        try await fanOut(bench, unrelated: 0)
        try await fanOut(bench, unrelated: bench.settings.count(100_000, quick: 10_000))
    }

    // MARK: Single documents

    private func reads(_ bench: Bench) async throws {
        let storage: any StorageClient = MockStorageClient(try backend(documents: 1_000))
        let paths = try (0..<1_000).map { try StoragePath(validating: "items/\($0)") }
        let count = bench.settings.count(300_000, quick: 30_000)
        let rate = try await median(bench.settings.count(5, quick: 1)) {
            var found = 0
            let duration = try await ContinuousClock().measure {
                for index in 0..<count where try await storage.snapshot(paths[index % 1_000]).exists { found += 1 }
            }
            guard found == count else { throw BenchFailure("a document is missing") }
            return Double(count) / duration.inSeconds
        }
        await bench.report("mock: single-document reads, one task", rate, "1/s", .atLeast(300_000))
    }

    // MARK: A query

    private func query(_ bench: Bench) async throws {
        let count = bench.settings.count(100_000, quick: 20_000)
        let storage: any StorageClient = MockStorageClient(try backend(documents: count))
        let query = try Query(in: "items").where("state", .equal, "open").ordered(by: "score", .descending)
            .limited(to: 50)
        let time = try await median(bench.settings.count(15, quick: 3)) {
            var results = 0
            let duration = try await ContinuousClock().measure { results = try await storage.results(of: query).count }
            guard results == 50 else { throw BenchFailure("the query found \(results) documents") }
            return duration.inSeconds * 1_000
        }
        await bench.report("mock: query with filter, order and limit 50 over \(count)", time, "ms", .atMost(60))
    }

    // MARK: A write that many watch

    /// - Parameter unrelated: How many documents there are in a collection that nobody watches.
    private func fanOut(_ bench: Bench, unrelated: Int) async throws {
        let watchers = 1_000
        let backend = try backend(documents: 10_000)
        try backend.seed((0..<unrelated).map { (try StoragePath(validating: "others/\($0)"), fields($0)) })
        let storage: any StorageClient = MockStorageClient(backend)
        let arrivals = Arrivals()
        let tasks = try (0..<watchers).map { number in
            // Each query is another one; all have ten results, the document that will change among them.
            let query = try Query(in: "items").where("rank", .greaterThanOrEqual, 5_000.0 - Double(number) / 10_000)
                .where("rank", .lessThan, 5_010.0 - Double(number) / 10_000).ordered(by: "rank")
            return Task {
                for try await snapshot in storage.snapshots(of: query) {
                    arrivals.note(snapshot.documents.first { $0.id == "5000" }?["mark"]?.integerValue ?? -1)
                }
            }
        }
        defer { for task in tasks { task.cancel() } }
        try await arrivals.wait(for: 0, watchers)
        var mark: Int64 = 0
        let time = try await median(bench.settings.count(15, quick: 3)) {
            mark += 1
            let wanted = mark
            let duration = try await ContinuousClock().measure {
                try await storage.updateDocument("items/5000", ["mark": .of(wanted)])
                try await arrivals.wait(for: wanted, watchers)
            }
            return duration.inSeconds * 1_000
        }
        let beside = unrelated == 0 ? "" : ", beside \(unrelated) others"
        await bench.report("mock: a write reaches \(watchers) live queries\(beside)", time, "ms", .atMost(20))
    }

    /// Counts who has seen which state, and wakes the one who waits for all.
    private final class Arrivals: Sendable {
        private struct State {
            var mark: Int64 = 0
            var count = 0
            var waiter: (mark: Int64, count: Int, continuation: CheckedContinuation<Void, Never>)?
        }
        private let state = Mutex(State())

        func note(_ mark: Int64) {
            let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
                if mark > state.mark { (state.mark, state.count) = (mark, 0) }
                if mark == state.mark { state.count += 1 }
                guard let waiter = state.waiter, waiter.mark == state.mark, waiter.count == state.count else {
                    return nil
                }
                state.waiter = nil
                return waiter.continuation
            }
            waiter?.resume()
        }

        func wait(for mark: Int64, _ count: Int) async throws {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if state.mark == mark, state.count >= count { return true }
                    state.waiter = (mark, count, continuation)
                    return false
                }
                if isThere { continuation.resume() }
            }
        }
    }

    // MARK: Data

    private func backend(documents count: Int) throws -> MockBackend {
        let backend = MockBackend()
        try backend.seed((0..<count).map { (try StoragePath(validating: "items/\($0)"), fields($0)) })
        return backend
    }

    private func fields(_ number: Int) -> DocumentData {
        [
            // The score is in no order: a sorted collection would make the query easier, or harder, than it is.
            "rank": .integer(Int64(number)), "score": .integer(Int64(number) * 7_919 % 100_003),
            "state": .string(number % 3 == 0 ? "open" : "closed"),
            "name": .string("Item number \(number)"), "mark": 0, "isPublic": .bool(number % 2 == 0),
        ]
    }

    private func median(_ rounds: Int, _ measure: () async throws -> Double) async throws -> Double {
        var values: [Double] = []
        for _ in 0..<rounds { values.append(try await measure()) }
        return Statistics.median(values)
    }
}

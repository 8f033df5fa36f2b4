import Switchyard
import SwitchyardMock
import Synchronization

/// A mock with 10 000 documents, many live queries with ten results each, and an unwatched collection.
final class WatchedItems: Sendable {
    private let storage: any StorageClient
    private let watchers: Int
    private let arrivals = Arrivals()
    private let tasks: [Task<Void, any Error>]
    private let lastMark = Mutex<Int64>(0)

    init(watchers: Int, others: Int) async throws {
        let backend = try MockSample.backend(documents: 10_000)
        try MockSample.seed(backend, "others", others)
        let storage: any StorageClient = MockStorageClient(backend)
        self.storage = storage
        self.watchers = watchers
        tasks = (0..<watchers).map { [arrivals] number in
            // The queries differ; all have ten results, including the document that will change.
            let query = Query(in: "items").where("rank", .greaterThanOrEqual, 5_000.0 - Double(number) / 10_000)
                .where("rank", .lessThan, 5_010.0 - Double(number) / 10_000).ordered(by: "rank")
            return Task {
                for try await snapshot in storage.snapshots(of: query) {
                    arrivals.note(snapshot.documents.first { $0.id == "5000" }?["mark"]?.integerValue ?? -1)
                }
            }
        }
        await arrivals.wait(for: 0, watchers)
    }

    func end() {
        for task in tasks { task.cancel() }
    }

    /// Waits until every consumer has seen the change.
    func writeWatched() async throws {
        let mark = lastMark.withLock { mark in
            mark += 1
            return mark
        }
        try await storage.updateDocument("items/5000", ["mark": .of(mark)])
        await arrivals.wait(for: mark, watchers)
    }

    /// Writes to the first documents of the unwatched collection.
    func writeOthers(_ count: Int, among documents: Int) async throws {
        let mark = lastMark.withLock { $0 }
        for number in 0..<count {
            // Never the same value twice, or nothing would be written.
            let value = mark &* 1_000_000 &+ Int64(number)
            try await storage.updateDocument(
                StoragePath(validating: "others/\(number % documents)"), ["mark": .of(value)])
        }
    }

    /// Writes to documents of the watched collection that are in none of the results.
    func writeUnmatched(_ count: Int) async throws {
        for number in 0..<count {
            let mark = lastMark.withLock { mark in
                mark += 1
                return mark
            }
            try await storage.updateDocument(StoragePath(validating: "items/\(number)"), ["mark": .of(mark)])
        }
    }

    /// Counts the consumers that have seen a state, and wakes the one that waits for all of them.
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

        func wait(for mark: Int64, _ count: Int) async {
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
}

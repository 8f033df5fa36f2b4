import Switchyard
import Synchronization

/// The cost of a change in the windows of live queries, without a client around them.
struct QueryViewBench: BenchSection {
    let name = "query view"

    func run(_ bench: Bench) async throws {
        let count = 10_000
        let collection: CollectionPath = "things"
        func document(_ index: Int, rank: Int) throws -> DocumentSnapshot {
            .existing(
                collection.document("d\(index)"),
                ["group": .integer(Int64(index % 10)), "rank": .integer(Int64(rank))])
        }
        let documents = try (0..<count).map { try document($0, rank: $0 * 7919 % count) }
        let query = Query(in: collection).where("rank", .greaterThanOrEqual, 0).ordered(by: "rank").limited(to: 10)
        let queries = bench.settings.count(1000, quick: 100)
        // The first document has the lowest rank, so it is in every window.
        let moving = Windows(queries, query, documents, between: [try document(0, rank: 5), documents[0]])
        let leaving = Windows(queries, query, documents, between: [try document(0, rank: count), documents[0]])
        let results = try await BenchComparison(rounds: bench.settings.count(31, quick: 3), warmUps: 2).run([
            BenchComparison.Contender("moving") { moving.step() },
            BenchComparison.Contender("leaving") { leaving.step() },
            BenchComparison.Contender("first results") {
                var view = QueryView(query, reserve: 20)
                view.reset(to: documents)
                return view.takeChanges()
            },
        ])
        let milliseconds = results.map { $0.seconds * 1000 }
        let windows = "\(queries) windows of 10 over \(count) documents"
        await bench.report("a change of place in \(windows)", milliseconds[0], "ms", .atMost(20))
        await bench.report("a document leaves or enters \(windows)", milliseconds[1], "ms", .atMost(20))
        await bench.report("first results of one query over \(count) documents", milliseconds[2], "ms")
    }

    /// Views as in a provider, each the only owner of its contents, and a document that changes in all of them.
    private final class Windows: Sendable {
        private struct State {
            var views: [QueryView]
            var turn = 0
        }
        private let state: Mutex<State>
        private let contents: [DocumentSnapshot]

        init(
            _ count: Int, _ query: Query, _ documents: [DocumentSnapshot], between contents: [DocumentSnapshot]
        ) {
            var view = QueryView(query, reserve: 20)
            view.reset(to: documents)
            _ = view.takeChanges()
            // The views share their contents until each has changed once, in the warm-up.
            let views = [QueryView](repeating: view, count: count)
            state = Mutex(State(views: views))
            self.contents = contents
        }

        func step() -> [[DocumentChange]] {
            state.withLock { state in
                let document = contents[state.turn % contents.count]
                state.turn += 1
                return state.views.indices.map { index in
                    state.views[index].update(document)
                    return state.views[index].takeChanges()
                }
            }
        }
    }
}

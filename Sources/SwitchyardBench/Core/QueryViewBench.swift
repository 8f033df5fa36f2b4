import Switchyard

/// What a change costs the windows of live queries, without any client around them.
struct QueryViewBench: BenchSection {
    let name = "query view"

    func run(_ bench: Bench) async throws {
        let count = 10_000
        let collection: CollectionPath = "things"
        let documents = try (0..<count).map { index in
            DocumentSnapshot.existing(
                try collection.document("d\(index)"),
                ["group": .integer(Int64(index % 10)), "rank": .integer(Int64(index * 7919 % count))])
        }
        let query = try Query(in: collection).where("rank", .greaterThanOrEqual, 0).ordered(by: "rank").limited(to: 10)
        let queries = bench.settings.count(1000, quick: 100)

        var first = QueryView(query, reserve: 20)
        first.reset(to: documents)
        _ = first.takeChanges()
        let views = [QueryView](repeating: first, count: queries)
        let touched = DocumentSnapshot.existing(documents[0].path, ["group": 0, "rank": 5])
        let results = try await Contest(rounds: bench.settings.count(15, quick: 3)).run([
            Contest.Contender("windows") {
                var views = views
                var changes = 0
                for index in views.indices {
                    views[index].update(touched)
                    changes += views[index].takeChanges().count
                }
                return changes
            },
            Contest.Contender("first results") {
                var view = QueryView(query, reserve: 20)
                view.reset(to: documents)
                return view.takeChanges()
            },
        ])
        await bench.report(
            "one change in \(queries) windows of 10 over \(count) documents", results[0].seconds * 1000, "ms",
            .atMost(20))
        await bench.report("first results of one query over \(count) documents", results[1].seconds * 1000, "ms")
    }
}

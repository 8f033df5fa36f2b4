import Switchyard
import SwitchyardSync
import SwitchyardTestSupport
import Testing

@Suite struct ListenRequestTests {
    private let query = LiveQuery.query(Query(in: "rooms"))

    @Test func `A first listen sends neither token nor count`() throws {
        let bench = try TestBench()
        bench.feed(.listen(1, query, ViewOptions()))
        let request = try #require(bench.requests.last)
        #expect(request.resumeToken.isEmpty && request.readTime == nil && request.expectedCount == nil)
    }

    @Test func `A resumed listen says how many documents the server confirmed`() throws {
        let bench = try TestBench()
        bench.feed(.listen(1, query, ViewOptions()))
        bench.answer(2, [("rooms/a", ["n": 1]), ("rooms/b", ["n": 2])], at: 1000)
        bench.feed(.watchClosed(StorageError(.unavailable, "gone")))
        let request = try #require(bench.requests.last)
        #expect(request.resumeToken == Array("token 1000".utf8))
        #expect(request.expectedCount == 2)
    }

    @Test func `Documents that only this device has written do not count`() throws {
        let bench = try TestBench()
        bench.feed(.listen(1, query, ViewOptions()))
        bench.answer(2, [("rooms/a", ["n": 1])], at: 1000)
        bench.feed(
            .write(1, [DocumentWrite(path: "rooms/z", operation: .set(["n": 9]))], at: Timestamp(microseconds: 5)))
        #expect(bench.snapshots.last?.documents.count == 2)
        bench.feed(.unlisten(1))
        bench.feed(.listen(2, query, ViewOptions()))
        #expect(try #require(bench.requests.last).expectedCount == 1)
    }
}

@Suite struct SnapshotOrderTests {
    /// Applies changes one after the other, as a list on a screen would.
    private func replay(_ changes: [DocumentChange], on list: [StoragePath]) -> [StoragePath] {
        var list = list
        for change in changes {
            if let index = change.oldIndex { list.remove(at: index) }
            if let index = change.newIndex { list.insert(change.document.path, at: index) }
        }
        return list
    }

    @Test(arguments: [Query.Limit?.none, .first(3), .last(3)])
    func `Changes applied in order give the documents in the query's order`(_ limit: Query.Limit?) throws {
        let bench = try TestBench()
        var query = Query(in: "rooms").ordered(by: "n", .descending)
        query.limit = limit
        let evaluator = QueryEvaluator(query)
        bench.feed(.listen(1, .query(query), ViewOptions()))
        bench.answer(2, [("rooms/a", ["n": 1]), ("rooms/b", ["n": 2]), ("rooms/c", ["n": 3])], at: 1000)
        var generator = SeededGenerator(seed: 7)
        for round in 0..<200 {
            let path = StoragePath(unchecked: "rooms/\(["a", "b", "c", "d", "e"].randomElement(using: &generator)!)")
            let isDeleted = Int.random(in: 0..<4, using: &generator) == 0
            let operation: DocumentWrite.Operation =
                isDeleted ? .delete : .set(["n": .integer(Int64.random(in: 0..<9, using: &generator))])
            bench.feed(.write(round, [DocumentWrite(path: path, operation: operation)], at: Timestamp(microseconds: 5)))
        }
        var shown: [StoragePath] = []
        for snapshot in bench.snapshots {
            shown = replay(snapshot.changes, on: shown)
            #expect(shown == snapshot.documents.map(\.path))
            let sorted = snapshot.documents.sorted { evaluator.ordering($0, $1) == .before }
            #expect(sorted.map(\.path) == shown)
        }
        #expect(bench.snapshots.count > 50)
    }
}

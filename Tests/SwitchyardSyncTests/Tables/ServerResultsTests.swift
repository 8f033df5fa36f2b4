import Switchyard
import Testing

@testable import SwitchyardSync

/// Results of which the server decides which they are, and in which order.
@Suite struct ServerResultsTests {
    private static let byName = Query(in: "todos").ordered(by: "t")
    private let names: [(StoragePath, DocumentData)] = [
        ("todos/1", ["t": "B"]), ("todos/2", ["t": "a"]), ("todos/3", ["t": "c"]),
    ]
    /// As a collation without case sorts them: another order than that of the bytes.
    private let order: [StoragePath] = ["todos/2", "todos/1", "todos/3"]

    private func bench(_ query: Query = byName, over store: any SyncStore = MemoryStore()) throws -> TestBench {
        let bench = try TestBench(over: store, usesTags: true)
        bench.feed(.listen(1, .query(query), ViewOptions()))
        return bench
    }

    @Test func `The server's order is shown, and changes lead to it`() throws {
        let bench = try bench()
        bench.tell(2, names, results: order, at: 1000, isFirst: true)
        #expect(bench.shown == ["2", "1", "3"])
        #expect(bench.snapshots.last?.isFromCache == false)
        // A change of the order is one of the result, even if no document has changed.
        bench.tell(2, [], results: ["todos/3", "todos/2", "todos/1"], at: 2000)
        #expect(bench.shown == ["3", "2", "1"])
        bench.tell(2, [("todos/4", ["t": "b"])], results: order + ["todos/4"], at: 3000)
        #expect(bench.shown == ["2", "1", "3", "4"])
        // The local order again.
        bench.tell(2, [], results: ["todos/1", "todos/2", "todos/4", "todos/3"], at: 4000)
        #expect(bench.shown == ["1", "2", "4", "3"])
        #expect(bench.wrongChanges == nil)
    }

    @Test func `What is listed is a result, whatever the local evaluator says, and nothing else is`() throws {
        let bench = try bench(Query(in: "todos").where("t", .equal, "a"))
        bench.tell(
            2, [("todos/1", ["t": "A"]), ("todos/2", ["t": "a"])], results: ["todos/1", "todos/2"], at: 1000,
            isFirst: true)
        #expect(bench.shown == ["1", "2"])
        #expect(bench.snapshots.last?.isFromCache == false)
        // One leaves without a word, and its contents still match.
        bench.tell(2, [], results: ["todos/1"], at: 2000)
        #expect(bench.shown == ["1"])
        #expect(bench.snapshots.last?.isFromCache == false)
        #expect(bench.requests.count == 1, "nothing is looked up")
        #expect(bench.wrongChanges == nil)
    }

    @Test func `The window of a limit is the server's`() throws {
        let bench = try bench(ServerResultsTests.byName.limited(to: 2))
        bench.tell(2, [names[1], names[2]], results: ["todos/3", "todos/2"], at: 1000, isFirst: true)
        #expect(bench.shown == ["3", "2"])
        // A pending row pushes one out, and lets it in again when it is refused.
        bench.write(try .set("todos/0", ["t": "0"]))
        #expect(bench.shown.count == 2 && bench.shown.contains("0"))
        bench.feed(.writerClosed(StorageError(.unauthorized, "no").asRefusal(), at: Timestamp(microseconds: 1)))
        #expect(bench.shown == ["3", "2"])
        bench.tell(2, [("todos/9", ["t": "9"])], results: ["todos/9", "todos/3"], at: 2000)
        #expect(bench.shown == ["9", "3"])
        #expect(bench.wrongChanges == nil)
    }

    @Test func `The last results are the target's first ones, reversed`() throws {
        let bench = try bench(ServerResultsTests.byName.limited(toLast: 2))
        bench.tell(2, [names[0], names[2]], results: ["todos/3", "todos/1"], at: 1000, isFirst: true)
        #expect(bench.shown == ["1", "3"])
        bench.tell(2, [names[1]], results: ["todos/1", "todos/2"], at: 2000)
        #expect(bench.shown == ["2", "1"])
        #expect(bench.wrongChanges == nil)
    }

    @Test func `A pending row is placed by the local order, and by the server's once it is read back`() throws {
        let bench = try bench()
        bench.tell(2, names, results: order, at: 1000, isFirst: true)
        bench.write(try .set("todos/4", ["t": "b"]))
        #expect(bench.shown == ["2", "1", "4", "3"])
        bench.acknowledge([("todos/4", ["t": "b"])], at: 2000)
        #expect(bench.shown == ["2", "1", "4", "3"])
        // Older results, which were on their way, do not hide it.
        bench.tell(2, [], results: order, at: 1500)
        #expect(bench.shown == ["2", "1", "4", "3"])
        bench.tell(2, [("todos/4", ["t": "b"])], results: ["todos/4"] + order, at: 3000)
        #expect(bench.shown == ["4", "2", "1", "3"])
        #expect(bench.wrongChanges == nil)
    }

    @Test func `A row stays in its place while an edit is pending that does not move it`() throws {
        let bench = try bench()
        bench.tell(2, names, results: order, at: 1000, isFirst: true)
        bench.write(try .update("todos/2", ["done": true]))
        #expect(bench.shown == ["2", "1", "3"])
        #expect(bench.snapshots.last?.hasPendingWrites == true)
        bench.write(try .update("todos/2", ["t": "z"]), at: 2)
        #expect(bench.shown == ["1", "3", "2"])
        bench.feed(.writerClosed(StorageError(.unauthorized, "no").asRefusal(), at: Timestamp(microseconds: 1)))
        bench.feed(.writerClosed(StorageError(.unauthorized, "no").asRefusal(), at: Timestamp(microseconds: 1)))
        #expect(bench.shown == ["2", "1", "3"], "where the server put it")
        #expect(bench.wrongChanges == nil)
    }

    @Test func `A pending edit that does not match hides a row until the server has decided`() throws {
        let bench = try bench(Query(in: "todos").where("n", .greaterThan, 1))
        bench.tell(
            2, [("todos/1", ["n": 2]), ("todos/2", ["n": 3])], results: ["todos/1", "todos/2"], at: 1000, isFirst: true)
        bench.write(try .update("todos/1", ["n": 0]))
        #expect(bench.shown == ["2"])
        bench.acknowledge([("todos/1", ["n": 2])], at: 2000)
        #expect(bench.shown == ["2"])
        // A trigger has brought it back; nothing but the list says so.
        bench.tell(2, [], results: ["todos/1", "todos/2"], at: 3000)
        #expect(bench.shown == ["1", "2"])
        #expect(bench.wrongChanges == nil)
    }

    @Test(arguments: [Query?.none, byName, byName.limited(to: 2)])
    func `Offline after a restart, the cached results are those that the server decided`(query: Query?) throws {
        let store = MemoryStore()
        let query = query ?? Query(in: "todos").where("t", .equal, "b")
        let first = try bench(query, over: store)
        first.tell(2, [names[0], names[1]], results: ["todos/2", "todos/1"], at: 1000, isFirst: true)
        first.tell(2, [names[2]], results: ["todos/1", "todos/3"], at: 2000)
        let again = try TestBench(over: store, usesTags: true)
        again.feed(.setNetwork(isEnabled: false))
        again.feed(.listen(1, .query(query), ViewOptions()))
        #expect(again.shown == ["1", "3"], "and not the one that left")
        again.write(.delete("todos/1"))
        #expect(again.shown == ["3"])
        #expect(again.wrongChanges == nil)
    }

    @Test func `A row that was acknowledged before the restart, and not read back, is still shown`() throws {
        let store = MemoryStore()
        let first = try bench(over: store)
        first.tell(2, names, results: order, at: 1000, isFirst: true)
        first.write(try .set("todos/4", ["t": "d"]))
        first.acknowledge([("todos/4", ["t": "d"])], at: 2000)
        let again = try bench(over: store)
        #expect(again.shown == ["1", "2", "3", "4"])
        again.tell(2, [("todos/4", ["t": "d"])], results: order + ["todos/4"], at: 3000, isFirst: true)
        #expect(again.shown == ["2", "1", "3", "4"])
        #expect(again.wrongChanges == nil)
    }

    @Test func `A second query on the target shows the same order at once`() throws {
        let bench = try bench(ServerResultsTests.byName.limited(to: 3))
        bench.tell(2, names, results: order, at: 1000, isFirst: true)
        let reversed = Query(in: "todos").ordered(by: "t", .descending).limited(toLast: 3)
        bench.forgetSnapshots()
        bench.feed(.listen(2, .query(reversed), ViewOptions()))
        #expect(bench.requests.count == 1)
        #expect(bench.shown == ["3", "1", "2"])
        #expect(bench.snapshots.last?.isFromCache == false)
    }

    @Test func `A document alone needs no results`() throws {
        let bench = try TestBench(usesTags: true)
        bench.feed(.listen(1, .document("todos/1"), ViewOptions()))
        bench.answer(2, [("todos/1", ["n": 1])], at: 1000)
        #expect(bench.shown == ["1"])
        bench.tell(2, [], results: [], at: 2000)
        #expect(bench.shown == [] && bench.snapshots.last?.isFromCache == false)
    }
}

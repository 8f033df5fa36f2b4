import Switchyard
import Testing

@testable import SwitchyardSync

/// Where a listen is taken up again, and what must not come back.
@Suite struct ResumeTests {
    private let query = LiveQuery.query(Query(in: "rooms"))
    private let start: Int64 = 1000
    private let minute: Int64 = 60_000_000

    /// A listener of one document that receives nothing new until `minutes` later, when a newer token comes.
    private func listen(over store: any SyncStore, minutes: Int64) throws -> TestBench {
        let bench = try TestBench(over: store)
        bench.feed(.listen(1, query, ViewOptions()))
        bench.answer(2, [("rooms/a", ["n": 1])], at: start)
        bench.feed(.watched(.token([2], token: Array("later".utf8))))
        bench.feed(.watched(.snapshot(version: Timestamp(microseconds: start + minutes * minute))))
        return bench
    }

    private func relisten(_ bench: TestBench) throws -> TargetRequest {
        bench.feed(.listen(9, query, ViewOptions()))
        return try #require(bench.requests.last)
    }

    @Test func `A token that says nothing new is written down every five minutes`() throws {
        for (minutes, expected) in [(4, "token 1000"), (5, "later")] as [(Int64, String)] {
            let store = MemoryStore()
            let bench = try listen(over: store, minutes: minutes)
            // The process ends here; what was only in memory is gone.
            _ = bench
            let request = try relisten(TestBench(over: store))
            #expect(request.id == 2)
            #expect(String(decoding: request.resumeToken, as: UTF8.self) == expected)
            #expect(request.expectedCount == 1)
        }
    }

    @Test func `In the same life the newest token counts, written down or not`() throws {
        let bench = try listen(over: MemoryStore(), minutes: 1)
        bench.feed(.unlisten(1))
        #expect(try relisten(bench).resumeToken == Array("later".utf8))
    }

    @Test func `After a restart targets are counted on, and look-ups begin again`() throws {
        let store = MemoryStore()
        let bench = try listen(over: store, minutes: 1)
        bench.feed(.listen(2, .document("rooms/z"), ViewOptions()))
        #expect(bench.requests.last?.id == 4)
        let again = try TestBench(over: store)
        again.feed(.listen(1, .document("halls/a"), ViewOptions()))
        #expect(again.requests.last?.id == 6)
    }

    @Test func `A snapshot from the past shows nothing`() throws {
        let bench = try listen(over: MemoryStore(), minutes: 1)
        bench.forgetSnapshots()
        let old = DocumentSnapshot.existing("rooms/b", ["n": 2], updateTime: Timestamp(microseconds: 2000))
        bench.feed(.watched(.changed(old, targets: [2])))
        bench.feed(.watched(.snapshot(version: Timestamp(microseconds: start + 1))))
        #expect(bench.snapshots.isEmpty)
    }

    @Test func `An older state of a document never replaces a newer one, whichever target brings it`() throws {
        let bench = try listen(over: MemoryStore(), minutes: 1)
        bench.feed(.listen(2, .document("rooms/a"), ViewOptions()))
        bench.forgetSnapshots()
        bench.feed(.watched(.added([4])))
        let old = DocumentSnapshot.existing("rooms/a", ["n": 0], updateTime: Timestamp(microseconds: start - 1))
        bench.feed(.watched(.changed(old, targets: [4])))
        bench.feed(.watched(.current([4], token: [1])))
        bench.feed(.watched(.snapshot(version: Timestamp(microseconds: start + 2 * minute))))
        #expect(try bench.machine.document(at: "rooms/a")?["n"] == 1)
        for snapshot in bench.snapshots { #expect(snapshot.documents.first?["n"] == 1) }
    }

    @Test func `What no target holds on to is collected, also what was only found to be missing`() throws {
        var limits = CacheLimits()
        limits.threshold = 0
        limits.percentile = 100
        let bench = try TestBench(.leastRecentlyUsed(limits))
        bench.feed(.listen(1, .document("rooms/gone"), ViewOptions()))
        bench.answer(2, [], at: start)
        #expect(try bench.machine.document(at: "rooms/gone")?.exists == false)
        bench.feed(.unlisten(1))
        bench.feed(.collectGarbage(nil))
        #expect(try bench.machine.document(at: "rooms/gone") == nil)
    }
}

/// Both ends of a limit, as documents come and go.
@Suite struct LimitTests {
    private func documents(_ numbers: ClosedRange<Int64>) -> [(StoragePath, DocumentData)] {
        numbers.map { (StoragePath(unchecked: "rooms/\($0)"), ["n": .integer($0)]) }
    }

    @Test func `A limit to the last shares its target with its mirror, and each has its own end and order`() throws {
        let bench = try TestBench()
        var last = Query(in: "rooms").ordered(by: "n")
        last.limit = .last(2)
        var first = Query(in: "rooms").ordered(by: "n", .descending)
        first.limit = .first(2)
        bench.feed(.listen(1, .query(last), ViewOptions()))
        bench.feed(.listen(2, .query(first), ViewOptions()))
        #expect(bench.requests.map(\.id) == [2])
        bench.answer(2, documents(4...5), at: 1000)
        let shown = bench.snapshots.suffix(2).map { $0.documents.map(\.path) }
        #expect(shown == [["rooms/4", "rooms/5"], ["rooms/5", "rooms/4"]])

        bench.feed(.unlisten(1))
        bench.forgetSnapshots()
        bench.feed(
            .watched(.changed(.existing("rooms/6", ["n": 6], updateTime: Timestamp(microseconds: 2000)), targets: [2])))
        bench.feed(.watched(.left("rooms/4", removedFrom: [2])))
        bench.feed(.watched(.snapshot(version: Timestamp(microseconds: 2000))))
        #expect(bench.snapshots.map { $0.documents.map(\.path) } == [["rooms/6", "rooms/5"]])
    }

    @Test(arguments: [Query.Limit.first(2), .last(2)])
    func `A full result that loses a document is filled from the cache`(_ limit: Query.Limit) throws {
        let bench = try TestBench()
        bench.feed(.listen(1, .query(Query(in: "rooms")), ViewOptions()))
        bench.answer(2, documents(1...5), at: 1000)
        var query = Query(in: "rooms").ordered(by: "n")
        query.limit = limit
        bench.feed(.listen(2, .query(query), ViewOptions()))
        let isFirst = limit == .first(2)
        let gone: StoragePath = isFirst ? "rooms/1" : "rooms/5"
        bench.feed(.write(7, [.delete(gone)], at: Timestamp(microseconds: 5)))
        let newest = try #require(bench.snapshots.last { $0.query == .query(query) })
        #expect(newest.documents.map(\.path) == (isFirst ? ["rooms/2", "rooms/3"] : ["rooms/3", "rooms/4"]))
    }
}

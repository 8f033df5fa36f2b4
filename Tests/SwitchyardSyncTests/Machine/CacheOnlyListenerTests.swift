import Switchyard
import SwitchyardSync
import Testing

/// Listeners that only read the cache: no stream shows them what the server has acknowledged.
@Suite struct CacheOnlyListenerTests {
    private let query = LiveQuery.query(Query(in: "rooms"))
    private let cacheOnly = ViewOptions(readsCacheOnly: true)

    private func commit(_ bench: TestBench, at microseconds: Int64) {
        bench.feed(.committed(CommitResult(commitTime: Timestamp(microseconds: microseconds))))
        bench.feed(.timer(.overdue))
    }

    private func write(_ bench: TestBench, _ value: DocumentValue) throws {
        bench.feed(.write(1, [try .set("rooms/a", ["n": .value(value)])], at: Timestamp(microseconds: 5)))
    }

    @Test func `A listener of the cache sees that the server has acknowledged a write`() throws {
        let bench = try TestBench()
        bench.feed(.listen(1, query, cacheOnly))
        try write(bench, 1)
        #expect(bench.snapshots.last?.hasPendingWrites == true)
        commit(bench, at: 2000)
        let last = try #require(bench.snapshots.last)
        #expect(!last.hasPendingWrites && last.isFromCache)
        #expect(last.documents.first?.metadata.hasPendingWrites == false)
        #expect(last.documents.first?["n"] == 1)
        #expect(bench.requests.isEmpty)
    }

    @Test func `A listener of a single document in the cache sees it too, with the server's values`() throws {
        let bench = try TestBench()
        bench.feed(.listen(1, .document("rooms/a"), cacheOnly))
        bench.feed(.write(1, [try .set("rooms/a", ["at": .serverTime])], at: Timestamp(microseconds: 5)))
        let time = Timestamp(microseconds: 2000)
        bench.feed(.committed(CommitResult(commitTime: time, transformResults: [[.timestamp(time)]])))
        bench.feed(.timer(.overdue))
        let last = try #require(bench.snapshots.last)
        #expect(!last.hasPendingWrites)
        #expect(last.documents.first?["at"] == .timestamp(time))
    }

    @Test func `A listener of the cache learns of an acknowledgement when the one who listened to the server has left`()
        throws
    {
        let bench = try TestBench()
        bench.feed(.listen(1, query, cacheOnly))
        bench.feed(.listen(2, query, ViewOptions()))
        bench.answer(2, [], at: 1000)
        try write(bench, 1)
        commit(bench, at: 2000)
        #expect(bench.snapshots.last?.hasPendingWrites == true, "the stream is about to show it")
        bench.feed(.unlisten(2))
        #expect(bench.snapshots.last?.hasPendingWrites == false)
    }

    @Test func `A second write stays pending until it is acknowledged as well`() throws {
        let bench = try TestBench()
        bench.feed(.listen(1, query, cacheOnly))
        try write(bench, 1)
        try write(bench, 2)
        commit(bench, at: 2000)
        #expect(bench.snapshots.last?.hasPendingWrites == true)
        commit(bench, at: 3000)
        #expect(bench.snapshots.last?.hasPendingWrites == false)
        #expect(bench.snapshots.last?.documents.first?["n"] == 2)
    }
}

/// Limited results that lose a document while the store cannot be read.
@Suite struct RefillTests {
    private func query(_ count: Int) -> Query {
        var query = Query(in: "rooms").ordered(by: "n")
        query.limit = .first(count)
        return query
    }

    @Test(arguments: [true, false])
    func `A gap in a limited result is filled once the store works again`(isOnline: Bool) throws {
        let store = FlakyStore(MemoryStore())
        let bench = try TestBench(over: store)
        bench.feed(.listen(1, .query(Query(in: "rooms")), ViewOptions()))
        bench.answer(2, [("rooms/a", ["n": 1]), ("rooms/b", ["n": 2]), ("rooms/c", ["n": 3])], at: 1000)
        bench.feed(.listen(2, .query(query(2)), ViewOptions(readsCacheOnly: true)))
        if !isOnline { bench.feed(.setNetwork(isEnabled: false)) }
        store.failing = [.runQuery]
        bench.forgetSnapshots()
        bench.feed(.write(1, [.delete("rooms/a")], at: Timestamp(microseconds: 5)))
        let limited = { bench.snapshots.last { $0.query.hasLimit } }
        #expect(limited()?.documents.map(\.path) == ["rooms/b"])
        // It fails for a while.
        bench.feed(.timer(.recovery))
        #expect(limited()?.documents.map(\.path) == ["rooms/b"])
        store.failing = []
        bench.feed(.timer(.recovery))
        #expect(limited()?.documents.map(\.path) == ["rooms/b", "rooms/c"])
        #expect(try bench.machine.queue().count == 1)
    }

    @Test func `A listener that leaves meanwhile needs nothing any more`() throws {
        let store = FlakyStore(MemoryStore())
        let bench = try TestBench(over: store)
        bench.feed(.listen(1, .query(Query(in: "rooms")), ViewOptions()))
        bench.answer(2, [("rooms/a", ["n": 1]), ("rooms/b", ["n": 2]), ("rooms/c", ["n": 3])], at: 1000)
        bench.feed(.listen(2, .query(query(2)), ViewOptions(readsCacheOnly: true)))
        store.failing = [.runQuery]
        bench.feed(.write(1, [.delete("rooms/a")], at: Timestamp(microseconds: 5)))
        bench.feed(.unlisten(2))
        bench.forgetSnapshots()
        bench.feed(.timer(.recovery))
        #expect(!bench.snapshots.contains { $0.query.hasLimit })
        #expect(bench.machine.unrest.allSatisfy { !$0.hasSuffix("has refused") })
    }
}

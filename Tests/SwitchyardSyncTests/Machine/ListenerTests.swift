import Switchyard
import SwitchyardSync
import Testing

/// What one listener is told of a view, and when.
@Suite struct ListenerTests {
    private let query = LiveQuery.query(Query(in: "rooms"))
    private let broken = StorageError(.unavailable, "gone")

    /// One document in the cache, and no stream.
    private func benchWithCache() throws -> TestBench {
        let bench = try TestBench()
        bench.feed(.listen(1, query, ViewOptions()))
        bench.answer(2, [("rooms/a", ["n": 1])], at: 1000)
        bench.feed(.unlisten(1))
        bench.feed(.watched(.removed([2])))
        bench.feed(.timer(.watchIdle))
        bench.forgetSnapshots()
        return bench
    }

    @Test func `A listener that waits for the server is told nothing from the cache while there may be a connection`()
        throws
    {
        let bench = try benchWithCache()
        bench.feed(.listen(2, query, ViewOptions(waitsForSync: true)))
        #expect(bench.snapshots.isEmpty)
        bench.answer(2, [], at: 2000)
        let first = try #require(bench.snapshots.last)
        #expect(!first.isFromCache && first.documents.map(\.path) == ["rooms/a"])
        #expect(bench.snapshots.count == 1)
    }

    @Test func `A listener that waits for the server gets the cache once there is no connection`() throws {
        let bench = try benchWithCache()
        bench.feed(.listen(2, query, ViewOptions(waitsForSync: true)))
        bench.feed(.timer(.onlineState))
        let first = try #require(bench.snapshots.last)
        #expect(first.isFromCache && first.documents.map(\.path) == ["rooms/a"])
    }

    @Test func `Without a connection a listener that waits is served at once`() throws {
        let bench = try benchWithCache()
        bench.feed(.setNetwork(isEnabled: false))
        bench.feed(.listen(2, query, ViewOptions(waitsForSync: true)))
        #expect(bench.snapshots.map(\.isFromCache) == [true])
    }

    @Test func `A listener that does not wait is told what the cache has, then what the server has`() throws {
        let bench = try benchWithCache()
        bench.feed(.listen(2, query, ViewOptions()))
        #expect(bench.snapshots.map(\.isFromCache) == [true])
        bench.answer(2, [], at: 2000)
        #expect(bench.snapshots.map(\.isFromCache) == [true, false])
    }

    @Test func `A refusal that comes after the listener has left does not deafen the next one`() throws {
        let bench = try TestBench()
        bench.feed(.listen(1, query, ViewOptions()))
        bench.feed(.unlisten(1))
        bench.feed(.watched(.removed([2], cause: StorageError(.unauthorized, "not yet"))))
        bench.feed(.listen(2, query, ViewOptions()))
        #expect(bench.requests.map(\.id) == [2, 2])
        bench.answer(2, [("rooms/a", ["n": 1])], at: 1000)
        let shown = try #require(bench.snapshots.last)
        #expect(!shown.isFromCache && shown.documents.map(\.path) == ["rooms/a"])
    }

    @Test func `A time limit that ends in the moment of the first message does not take a stream for lost`() throws {
        let bench = try TestBench()
        bench.feed(.listen(1, query, ViewOptions()))
        bench.answer(2, [("rooms/a", ["n": 1])], at: 1000)
        bench.forgetSnapshots()
        bench.feed(.timer(.onlineState))
        #expect(bench.machine.onlineState == .online)
        #expect(bench.snapshots.isEmpty)
    }

    @Test func `Changes of nothing but metadata are told only to those who ask`() throws {
        for asks in [true, false] {
            let bench = try TestBench()
            bench.feed(.listen(1, query, ViewOptions(includesMetadataChanges: asks)))
            bench.answer(2, [("rooms/a", ["n": 1])], at: 1000)
            bench.feed(.watchClosed(broken))
            bench.forgetSnapshots()
            // The same state, confirmed again.
            bench.feed(.timer(.onlineState))
            #expect(bench.snapshots.count == (asks ? 1 : 0))
        }
    }

    @Test func `Where no one can sign in again, all listeners end once no new token is to be had`() throws {
        let bench = try TestBench(endsWithSession: true)
        bench.feed(.listen(1, query, ViewOptions()))
        bench.feed(.listen(2, .document("rooms/b"), ViewOptions()))
        bench.answer(2, [("rooms/a", ["n": 1])], at: 1000)
        // The server refuses the token; what asks for another one is still to come.
        bench.feed(.watchClosed(StorageError(.unauthenticated, "expired", isRetryable: true)))
        #expect(bench.failures.isEmpty && bench.openedStreams == 2)
        bench.feed(.watchClosed(StorageError(.unauthenticated, "no other token", isRetryable: false)))
        #expect(bench.failures.keys.sorted() == [1, 2])
        #expect(bench.failures.values.allSatisfy { $0.code == .unauthenticated && !$0.isRetryable })
        #expect(bench.openedStreams == 2 && !bench.machine.hasListeners, "nothing is asked for any more")
        bench.feed(.unlisten(1))
        // Another token may be there by now.
        bench.feed(.listen(3, query, ViewOptions()))
        #expect(bench.openedStreams == 3 && bench.failures[3] == nil)
    }

    @Test func `Where somebody may sign in again, listeners wait for that`() throws {
        let bench = try TestBench()
        bench.feed(.listen(1, query, ViewOptions()))
        bench.feed(.watchClosed(StorageError(.unauthenticated, "no token", isRetryable: false)))
        #expect(bench.failures.isEmpty && bench.openedStreams == 2)
    }

    @Test func `What is wrong with the connection ends no listener, whoever asks`() throws {
        let bench = try TestBench(endsWithSession: true)
        bench.feed(.listen(1, query, ViewOptions()))
        bench.feed(.watchClosed(broken))
        #expect(bench.failures.isEmpty && bench.openedStreams == 2)
    }
}

/// What a stream may do to a document between two snapshots.
@Suite struct WindowTests {
    @Test func `Of several words on a document in one window the newest counts, in whatever order they come`() throws {
        let bench = try TestBench()
        bench.feed(.listen(1, .query(Query(in: "rooms")), ViewOptions()))
        bench.feed(.listen(2, .query(Query(in: "rooms").where("n", .greaterThan, 0)), ViewOptions()))
        bench.feed(.watched(.added([2, 4])))
        let newer = DocumentSnapshot.existing("rooms/a", ["n": 2], updateTime: Timestamp(microseconds: 2000))
        let older = DocumentSnapshot.existing("rooms/a", ["n": 1], updateTime: Timestamp(microseconds: 1000))
        bench.feed(.watched(.changed(newer, targets: [2])))
        bench.feed(.watched(.changed(older, targets: [4])))
        bench.feed(.watched(.current([2, 4], token: [1])))
        bench.feed(.watched(.snapshot(version: Timestamp(microseconds: 3000))))
        #expect(bench.snapshots.count == 2)
        for snapshot in bench.snapshots { #expect(snapshot.documents.first?["n"] == 2) }
    }

    @Test func `An acknowledgement that comes after the stream has told of the write is not waited for without end`()
        throws
    {
        let bench = try TestBench()
        var query = Query(in: "rooms").ordered(by: "n")
        query.limit = .first(2)
        bench.feed(.listen(1, .query(query), ViewOptions()))
        bench.answer(2, [("rooms/a", ["n": 1]), ("rooms/b", ["n": 2])], at: 1000)
        bench.feed(.write(1, [try .set("rooms/c", ["n": 0])], at: Timestamp(microseconds: 5)))
        #expect(bench.snapshots.last?.documents.map(\.path) == ["rooms/c", "rooms/a"])
        // Another device has moved the document away meanwhile, so it is no result, and the stream is silent about it.
        bench.feed(.watched(.snapshot(version: Timestamp(microseconds: 3000))))
        bench.feed(.committed(CommitResult(commitTime: Timestamp(microseconds: 2000))))
        #expect(bench.machine.activeLimboTargets.isEmpty)
        bench.feed(.timer(.overdue))
        #expect(bench.machine.activeLimboTargets == ["rooms/c": 1])
        bench.feed(.watched(.added([1])))
        let moved = DocumentSnapshot.existing("rooms/c", ["n": 9], updateTime: Timestamp(microseconds: 2500))
        bench.feed(.watched(.changed(moved, targets: [1])))
        bench.feed(.watched(.current([1], token: [1])))
        bench.feed(.watched(.snapshot(version: Timestamp(microseconds: 4000))))
        let newest = try #require(bench.snapshots.last)
        #expect(newest.documents.map(\.path) == ["rooms/a", "rooms/b"])
        #expect(!newest.hasPendingWrites && !newest.isFromCache)
    }

    @Test func `What a look-up finds is not missing because the document's own target is silent`() throws {
        let bench = try TestBench()
        let path: StoragePath = "rooms/a"
        func time(_ n: Int64) -> Timestamp { Timestamp(microseconds: n) }
        let document = DocumentSnapshot.existing(path, ["n": 1], updateTime: time(20))
        bench.feed(.listen(1, .document(path), ViewOptions()))
        bench.feed(.write(7, [try .set(path, ["n": 1])], at: time(5)))
        bench.feed(.committed(CommitResult(commitTime: time(20))))
        bench.feed(.watched(.added([2])))
        bench.feed(.watched(.changed(document, targets: [2])))
        bench.feed(.watched(.snapshot(version: time(21))))
        // What the server had found before the write, told after it.
        bench.feed(.watched(.deleted(path, version: time(10), removedFrom: [2])))
        bench.feed(.watched(.current([2], token: [1])))
        bench.feed(.watched(.snapshot(version: time(22))))
        #expect(bench.requests.last?.id == 1)
        bench.feed(.watched(.added([1])))
        bench.feed(.watched(.changed(document, targets: [1])))
        bench.feed(.watched(.current([1], token: [2])))
        bench.feed(.watched(.snapshot(version: time(40))))
        #expect(try bench.machine.document(at: path)?.exists == true)
        // The document's own target is asked for again.
        #expect(bench.requests.last?.id == 2)
        bench.feed(.watched(.removed([2])))
        bench.feed(.watched(.added([2])))
        bench.feed(.watched(.changed(document, targets: [2])))
        bench.feed(.watched(.current([2], token: [3])))
        bench.feed(.watched(.snapshot(version: time(41))))
        #expect(bench.snapshots.last?.isFromCache == false)
        #expect(bench.snapshots.last?.documents.count == 1)
    }

    @Test func `A document's target that was answered from before an own write is asked for again, once`() throws {
        let bench = try TestBench()
        let path: StoragePath = "rooms/a"
        func time(_ n: Int64) -> Timestamp { Timestamp(microseconds: n) }
        bench.feed(.listen(1, .document(path), ViewOptions()))
        let id = try #require(bench.requests.last).id
        bench.feed(.write(7, [try .set(path, ["n": 1])], at: time(5)))
        bench.feed(.committed(CommitResult(commitTime: time(20))))
        // Found before the write, told as of a moment after it.
        bench.answer(id, [], at: 22)
        #expect(bench.requests.map(\.id) == [id, id])
        #expect(try bench.machine.document(at: path)?.exists == true)
        #expect(bench.snapshots.last?.documents.count == 1)
        // The second answer counts, whatever it says.
        bench.feed(.watched(.removed([id])))
        bench.answer(id, [], at: 40)
        #expect(bench.requests.count == 2)
        #expect(bench.snapshots.last?.documents.isEmpty == true)
        #expect(bench.snapshots.last?.isFromCache == false)
    }
}

import Switchyard
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSync

/// The tags that a target is requested with, so that what has not changed is not sent again.
@Suite struct KnownTagsTests {
    private let query = LiveQuery.query(Query(in: "todos"))

    private func fill(_ store: any SyncStore) throws {
        let bench = try TestBench(over: store, usesTags: true)
        bench.feed(.listen(1, query, ViewOptions()))
        #expect(bench.requests.last?.knownTags == [:])
        bench.tell(
            2, [("todos/a", ["n": 1]), ("todos/b", ["n": 2])], results: ["todos/a", "todos/b"], at: 1000, isFirst: true)
    }

    private func requested(over store: any SyncStore) throws -> TargetRequest {
        let bench = try TestBench(over: store, usesTags: true)
        bench.feed(.listen(1, query, ViewOptions()))
        return try #require(bench.requests.last)
    }

    @Test(arguments: [false, true]) func `After a restart a target tells the tags of its results`(isFile: Bool) throws {
        let folder = try TemporaryFolder()
        var store: any SyncStore = isFile ? try SQLiteStore(folder: folder.url) : MemoryStore()
        try fill(store)
        if isFile {
            store.close()
            store = try SQLiteStore(folder: folder.url)
        }
        #expect(try requested(over: store).knownTags == ["todos/a": .of(["n": 1]), "todos/b": .of(["n": 2])])
    }

    @Test func `Contents that were computed here have no tag`() throws {
        let store = MemoryStore()
        let bench = try TestBench(over: store, usesTags: true)
        bench.feed(.listen(1, query, ViewOptions()))
        bench.tell(
            2, [("todos/a", ["n": 1]), ("todos/b", ["n": 2])], results: ["todos/a", "todos/b"], at: 1000, isFirst: true)
        bench.write(try .update("todos/a", ["n": 5]))
        bench.feed(.committed(CommitResult(commitTime: Timestamp(microseconds: 2000))))
        #expect(try requested(over: store).knownTags == ["todos/b": .of(["n": 2])])
    }

    @Test func `Results that do not add up are requested without tags`() throws {
        let bench = try TestBench(usesTags: true)
        bench.feed(.listen(1, query, ViewOptions()))
        bench.tell(2, [("todos/a", ["n": 1])], results: ["todos/a"], at: 1000, isFirst: true)
        bench.feed(.watched(.filter(target: 2, count: 7)))
        bench.feed(.watched(.snapshot(version: Timestamp(microseconds: 2000))))
        let request = try #require(bench.requests.last)
        #expect(request.purpose == .existenceFilterMismatch)
        #expect(request.knownTags == [:])
    }

    @Test func `A driver without tags is told none`() throws {
        let store = MemoryStore()
        try fill(store)
        let bench = try TestBench(over: store)
        bench.feed(.listen(1, query, ViewOptions()))
        #expect(bench.requests.last?.knownTags == [:])
    }

    @Test func `A one-time read leaves its tags in the cache`() throws {
        let bench = try TestBench(usesTags: true)
        let fetched = FetchedDocuments(
            documents: [.existing("todos/a", ["n": 1], updateTime: Timestamp(microseconds: 1000))],
            readTime: Timestamp(microseconds: 1000), tags: ["todos/a": .of(["n": 1])])
        bench.feed(.fetched(fetched))
        bench.write(try .update("todos/a", ["n": 2]))
        #expect(bench.sent.map(\.bases) == [[.of(["n": 1])]])
    }
}

import Switchyard
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSync

/// On which state of a row a batch was based when it was first sent.
@Suite struct BasesTests {
    private let query = LiveQuery.query(Query(in: "todos"))

    private func bench(over store: any SyncStore = MemoryStore()) throws -> TestBench {
        let bench = try TestBench(over: store, usesTags: true)
        bench.feed(.listen(1, query, ViewOptions()))
        bench.tell(2, [("todos/a", ["n": 1])], results: ["todos/a"], at: 1000, isFirst: true)
        return bench
    }

    @Test(arguments: [false, true])
    func `A batch keeps its bases at every attempt and after a restart`(isFile: Bool) throws {
        let folder = try TemporaryFolder()
        var store: any SyncStore = isFile ? try SQLiteStore(folder: folder.url) : MemoryStore()
        let bench = try bench(over: store)
        bench.write(try .update("todos/a", ["n": 2]), try .set("todos/b", ["n": 3]))
        #expect(bench.sent.map(\.bases) == [[.of(["n": 1]), nil]])
        #expect(bench.sent.map(\.mayHaveBeenSent) == [false])
        // Somebody else changes the row, and the answer is lost.
        bench.tell(2, [("todos/a", ["n": 7])], results: ["todos/a"], at: 2000)
        bench.feed(.writerClosed(StorageError(.unavailable, "lost"), at: Timestamp(microseconds: 1)))
        bench.feed(.timer(.writerBackoff))
        if isFile {
            store.close()
            store = try SQLiteStore(folder: folder.url)
        }
        let again = try TestBench(over: store, usesTags: true)
        for batch in bench.sent.dropFirst() + again.sent {
            #expect(batch.bases == [.of(["n": 1]), nil])
            #expect(batch.mayHaveBeenSent)
        }
        #expect(bench.sent.count == 2 && again.sent.count == 1)
    }

    @Test func `A batch that was never sent is known to be so after a restart`() throws {
        let store = MemoryStore()
        let bench = try bench(over: store)
        bench.feed(.setNetwork(isEnabled: false))
        bench.write(try .update("todos/a", ["n": 2]))
        let again = try TestBench(over: store, usesTags: true)
        #expect(again.sent.map(\.mayHaveBeenSent) == [false])
        #expect(again.sent.map(\.bases) == [[.of(["n": 1])]])
    }

    @Test func `A batch of a driver without tags may have been sent, for all that is known`() throws {
        let store = MemoryStore()
        let bench = try TestBench(over: store)
        bench.feed(.setNetwork(isEnabled: false))
        bench.write(try .set("todos/a", ["n": 2]))
        #expect(try TestBench(over: store, usesTags: true).sent.map(\.mayHaveBeenSent) == [true])
    }

    @Test func `A batch waits for the answer to an earlier one on the same row, and is based on that`() throws {
        let bench = try bench()
        bench.write(try .update("todos/a", ["n": 2]), at: 1)
        bench.write(try .update("todos/a", ["n": 3]), at: 2)
        bench.write(try .set("todos/b", ["n": 4]), at: 3)
        #expect(bench.sent.count == 1, "nothing overtakes")
        bench.acknowledge([("todos/a", ["n": 20])], at: 2000)
        #expect(bench.sent.map(\.bases) == [[.of(["n": 1])], [.of(["n": 20])], [nil]])
        bench.acknowledge([("todos/a", ["n": 30])], at: 3000)
        bench.acknowledge([("todos/b", ["n": 4])], at: 4000)
        #expect(try bench.machine.queue().isEmpty)
    }

    @Test func `After a refusal the next batch has the base that the refused one had`() throws {
        let bench = try bench()
        bench.write(try .update("todos/a", ["n": 2]), at: 1)
        bench.write(try .update("todos/a", ["n": 3]), at: 2)
        bench.feed(.writerClosed(StorageError(.unauthorized, "no").asRefusal(), at: Timestamp(microseconds: 1)))
        #expect(bench.sent.map(\.bases) == [[.of(["n": 1])], [.of(["n": 1])]])
        #expect(bench.sent.last?.mayHaveBeenSent == false)
    }

    @Test func `Nothing is sent while its bases cannot be stored`() throws {
        let store = FlakyStore(MemoryStore())
        let bench = try bench(over: store)
        store.failing = [.prepareBatches]
        bench.write(try .update("todos/a", ["n": 2]))
        #expect(bench.sent.isEmpty)
        store.failing = []
        bench.feed(.timer(.recovery))
        #expect(bench.sent.map(\.mayHaveBeenSent) == [false])
    }

    @Test func `A driver without tags gets its batches at once and without bases`() throws {
        let bench = try TestBench()
        bench.write(try .set("todos/a", ["n": 2]), at: 1)
        bench.write(try .set("todos/a", ["n": 3]), at: 2)
        #expect(bench.sent.map(\.bases) == [[], []])
    }
}

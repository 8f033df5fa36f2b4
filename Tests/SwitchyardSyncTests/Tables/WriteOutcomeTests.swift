import Switchyard
import Testing

@testable import SwitchyardSync

/// Rows that are not what was sent: a trigger, a rounding or another writer has changed them.
@Suite struct WriteOutcomeTests {
    private let row: StoragePath = "todos/a"

    /// - Parameter isDecided: Whether the server has said its results.
    private func bench(isDecided: Bool = true) throws -> TestBench {
        let bench = try TestBench(usesTags: true)
        bench.feed(.listen(1, .query(Query(in: "todos")), ViewOptions()))
        if isDecided {
            bench.tell(2, [(row, ["t": "old"])], results: [row], at: 1000, isFirst: true)
        } else {
            bench.answer(2, [(row, ["t": "old"])], at: 1000)
        }
        bench.forgetSnapshots()
        return bench
    }

    @Test(arguments: [true, false]) func `A view shows what came back at once`(isDecided: Bool) throws {
        let bench = try bench(isDecided: isDecided)
        bench.write(try .update(row, ["t": "ABC"]))
        bench.acknowledge([(row, ["t": "abc"])], at: 2000)
        let shown = bench.snapshots.map { $0.documents.first?.data?["t"] }
        #expect(shown == ["ABC", "abc"])
        #expect(bench.snapshots.last?.hasPendingWrites == false)
        #expect(bench.snapshots.last?.isFromCache == false)
        #expect(bench.requests.count == 1, "nothing is looked up")
        // The stream has the same to say, and no one notices.
        bench.forgetSnapshots()
        if isDecided {
            bench.tell(2, [(row, ["t": "abc"])], results: [row], at: 3000)
        } else {
            bench.answer(2, [(row, ["t": "abc"])], at: 3000, isFirst: false)
        }
        #expect(bench.snapshots.isEmpty)
    }

    @Test(arguments: [true, false]) func `A new row stays where it is until it is read back`(isDecided: Bool) throws {
        let bench = try bench(isDecided: isDecided)
        bench.write(try .set("todos/b", ["t": "B"]))
        bench.acknowledge([("todos/b", ["t": "b"])], at: 2000)
        #expect(bench.shown == ["a", "b"])
        #expect(bench.snapshots.last?.documents.last?.data == ["t": "b"])
        #expect(bench.requests.count == 1, "nothing is looked up")
    }

    @Test(arguments: [true, false]) func `A row that came back missing leaves`(isDecided: Bool) throws {
        let bench = try bench(isDecided: isDecided)
        bench.write(try .update(row, ["t": "ABC"]))
        bench.acknowledge([(row, nil)], at: 2000)
        #expect(bench.shown == [])
        #expect(try bench.machine.document(at: row)?.exists == false)
    }

    @Test func `A pending edit applies to what came back`() throws {
        let bench = try bench()
        bench.write(try .set(row, ["t": "ABC", "n": 1]), at: 1)
        bench.write(try .update(row, ["m": 2]), at: 2)
        bench.write(try .update(row, ["n": .increment(10)]), at: 3)
        bench.acknowledge([(row, ["t": "abc", "n": 5])], at: 2000)
        #expect(bench.snapshots.last?.documents.first?.data == ["t": "abc", "n": 15, "m": 2])
        #expect(bench.snapshots.last?.hasPendingWrites == true)
        bench.acknowledge([(row, ["t": "abc", "n": 5, "m": 3])], at: 3000)
        #expect(bench.snapshots.last?.documents.first?.data == ["t": "abc", "n": 15, "m": 3])
    }

    @Test func `Newer contents from the stream are not replaced by older ones that come back`() throws {
        let bench = try bench()
        bench.write(try .update(row, ["t": "ABC"]))
        bench.tell(2, [(row, ["t": "newer"])], results: [row], at: 3000)
        bench.acknowledge([(row, ["t": "abc"])], at: 2000)
        #expect(bench.snapshots.last?.documents.first?.data == ["t": "newer"])
    }

    @Test func `A write of which the contents are unknown keeps what is shown`() throws {
        let bench = try bench()
        bench.write(try .update(row, ["t": "ABC"]))
        bench.feed(.committed(CommitResult(commitTime: Timestamp(microseconds: 2000), outcomes: [.unknown])))
        #expect(bench.snapshots.last?.documents.first?.data == ["t": "ABC"])
        #expect(bench.snapshots.last?.hasPendingWrites == false)
        bench.tell(2, [(row, ["t": "abc"])], results: [row], at: 3000)
        #expect(bench.snapshots.last?.documents.first?.data == ["t": "abc"])
    }
}

import Switchyard
import Testing

@testable import SwitchyardSync

/// Additions that the server refuses, and what depends on them.
@Suite struct ProvisionalRejectionTests {
    private let local: StoragePath = "tasks/-1"

    private func bench(over store: any SyncStore = MemoryStore()) throws -> TestBench {
        let bench = try TestBench.naming(over: store)
        bench.write(try .create(local, ["t": "Milk"]), at: 1)
        bench.write(try .update(local, ["t": "Bread"]), at: 2)
        bench.write(try .set("steps/a", ["n": 1]), at: 3)
        bench.write(try .update("steps/a", ["task": .of(local)]), at: 4)
        bench.write(try .create("tasks/-2", ["after": .of(local)]), at: 5)
        bench.write(try .update("tasks/-2", ["n": 2]), at: 6)
        bench.write(try .create("tasks/-3", ["n": 3]), at: 7)
        return bench
    }

    @Test func `What depends on a refused addition is rejected with it, and says why`() throws {
        let bench = try bench()
        bench.feed(.listen(1, .query(Query(in: "tasks")), ViewOptions()))
        bench.refuse("The title is taken.")
        let refused = try bench.machine.refused()
        #expect(
            refused.map { $0.writes[0].description } == [
                "create tasks/-1 (1 field)", "update tasks/-1 (1 field)", "update steps/a (1 field)",
                "create tasks/-2 (1 field)", "update tasks/-2 (1 field)",
            ])
        #expect(refused[0].message == "The title is taken.")
        #expect(
            refused.dropFirst().allSatisfy {
                $0.code == .failedPrecondition && $0.message.contains("The title is taken.")
            })
        #expect(refused[1].message.contains("“tasks/-1”, which it changes, was not added"))
        #expect(refused[2].message.contains("“tasks/-1”, to which it refers, was not added"))
        #expect(refused[4].message.contains("“tasks/-1”, to which another one refers that it depends on"))
        for token in [1001, 1002, 1004, 1005, 1006] {
            #expect(throws: StorageError.self, "\(token)") { try bench.answers[token]?.get() }
        }
        // The others go on.
        #expect(try bench.queued == ["set steps/a (1 field)", "create tasks/-3 (1 field)"])
        #expect(bench.sent.suffix(2).map { $0.writes[0].path } == ["steps/a", "tasks/-3"])
        #expect(bench.shown == ["-3"])
        #expect(try bench.data(at: "steps/a") == ["n": 1])
    }

    @Test func `A rejected addition can be queued again, and then what depends on it`() throws {
        let bench = try bench()
        bench.refuse("no")
        for batch in try bench.machine.refused() {
            try bench.machine.resolveRefused(batch.id, requeuing: batch.writes, at: Timestamp(microseconds: 10))
        }
        #expect(try bench.machine.refused().isEmpty)
        #expect(try bench.machine.queue().map(\.isAddition) == [false, true, true, false, false, true, false])
        // Not before it.
        let other = try self.bench()
        other.refuse("no")
        let second = try other.machine.refused()[1]
        #expect(throws: StorageError.self) {
            try other.machine.resolveRefused(second.id, requeuing: second.writes, at: Timestamp(microseconds: 10))
        }
        #expect(try other.machine.refused().count == 5)
    }

    @Test func `What depends on a cancelled addition is kept among the rejected writes`() throws {
        let bench = try TestBench.naming()
        bench.feed(.setNetwork(isEnabled: false))
        bench.write(try .create(local, ["t": "Milk"]), at: 1)
        bench.write(try .set("steps/a", ["task": .of(local)]), at: 2)
        let id = try #require(try bench.machine.queue().first?.id)
        bench.feed(.cancelWrite(id: id, at: Timestamp(microseconds: 3)))
        #expect(try bench.machine.queue().isEmpty)
        #expect(try bench.machine.refused().map { $0.writes[0].path } == ["steps/a"])
        #expect(try bench.machine.refused()[0].message.contains("cancelled"))
    }
}

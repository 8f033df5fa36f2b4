import Switchyard
import Testing

@testable import SwitchyardSync

/// Documents that are added here and named by the server, in the queue and in the cache.
@Suite struct ProvisionalQueueTests {
    private let local: StoragePath = "tasks/-1"
    private let named: StoragePath = "tasks/41"

    private func offline(over store: any SyncStore = MemoryStore()) throws -> TestBench {
        let bench = try TestBench.naming(over: store)
        bench.feed(.setNetwork(isEnabled: false))
        return bench
    }

    @Test(arguments: [false, true])
    func `What was added, edited and referred to offline has the server's name everywhere, also after a restart`(
        isFile: Bool
    ) throws {
        let place = try ReopenedStore(isFile: isFile)
        var bench = try offline(over: place.store)
        bench.write(try .create(local, ["t": "Milk", "n": 1]), at: 1)
        bench.write(try .update(local, ["n": .increment(5)]), at: 2)
        bench.write(try .set("steps/a", ["task": .of(local), "all": [.of(local)]]), at: 3)
        bench.write(try .set("tasks/-1/notes/x", ["t": "below"]), at: 4)
        #expect(try bench.data(at: local) == ["t": "Milk", "n": 6])
        bench = try TestBench.naming(over: place.reopen())
        #expect(bench.sent.map(\.isAddition) == [true], "the others wait for the name")
        #expect(try bench.data(at: local) == ["t": "Milk", "n": 6])

        // The server's trigger has the last word.
        bench.name(named, ["t": "milk", "n": 10], at: 2000)
        #expect(bench.sent.dropFirst().flatMap(\.writes).map(\.path) == [named, "steps/a", "tasks/41/notes/x"])
        #expect(bench.sent[1].bases == [.of(["t": "milk", "n": 10])])
        for path in [local, named] {
            let document = try bench.machine.document(at: path)
            #expect(document?.path == named)
            #expect(document?.data == ["t": "milk", "n": 15])
        }
        #expect(try bench.data(at: "steps/a") == ["task": .of(named), "all": [.of(named)]])
        #expect(try bench.data(at: "tasks/-1/notes/x") == ["t": "below"])
        #expect(try bench.machine.document(at: "tasks/-1/notes/x")?.path == "tasks/41/notes/x")

        bench = try TestBench.naming(over: place.reopen())
        #expect(try bench.machine.document(at: local)?.path == named)
        #expect(try bench.queued.contains { $0.contains("-1") } == false)
        bench.acknowledge([(named, ["t": "milk", "n": 15])], at: 3000)
        bench.acknowledge([("steps/a", ["task": .of(named)])], at: 4000)
        bench.acknowledge([("tasks/41/notes/x", ["t": "below"])], at: 5000)
        #expect(try bench.machine.queue().isEmpty)
        // A name that the app kept is good further on.
        bench.write(try .update(local, ["n": 7]), at: 5)
        #expect(bench.sent.last?.writes.first?.path == named)
    }

    @Test func `An addition goes to the server once more after a lost answer, as itself`() throws {
        let place = try ReopenedStore(isFile: true)
        let bench = try TestBench.naming(over: place.store)
        bench.write(try .create(local, ["t": "Milk"]), at: 1)
        bench.write(.delete(local), at: 2)
        bench.feed(.writerClosed(StorageError(.unavailable, "lost"), at: Timestamp(microseconds: 1)))
        let again = try TestBench.naming(over: place.reopen())
        #expect(again.sent.map(\.id) == bench.sent.map(\.id))
        #expect(again.sent.map(\.mayHaveBeenSent) == [true])
        again.name(named, ["t": "Milk"], at: 2000)
        #expect(again.sent.last?.writes == [.delete(named)])
        #expect(try again.data(at: local) == nil)
    }

    @Test func `Additions that know nothing of each other are sent one after the other without a pause`() throws {
        let bench = try TestBench.naming()
        bench.write(try .create(local, ["t": "a"]), at: 1)
        bench.write(try .create("tasks/-2", ["t": "b"]), at: 2)
        bench.write(try .create("tasks/-3", ["t": "c", "after": .of(local)]), at: 3)
        bench.write(try .set("steps/a", ["n": 1]), at: 4)
        #expect(bench.sent.map { $0.writes[0].path } == [local, "tasks/-2"])
        bench.name(named, ["t": "a"], at: 2000)
        #expect(bench.sent.map { $0.writes[0].path } == [local, "tasks/-2", "tasks/-3", "steps/a"])
        #expect(bench.sent[2].writes[0].operation == .set(["t": "c", "after": .of(named)]))
    }

    @Test func `A row below a row, both named by the server, gets both names`() throws {
        let bench = try offline()
        bench.write(try .create("lists/-1", ["t": "list"]), at: 1)
        bench.write(try .create("lists/-1/tasks/-2", ["t": "task"]), at: 2)
        bench.write(try .update("lists/-1/tasks/-2", ["t": "edited"]), at: 3)
        bench.feed(.setNetwork(isEnabled: true))
        bench.name("lists/7", ["t": "list"], at: 2000)
        #expect(bench.sent.last?.writes[0].path == "lists/7/tasks/-2")
        #expect(bench.sent.last?.isAddition == true)
        bench.name("lists/7/tasks/8", ["t": "task"], at: 3000)
        #expect(try bench.queued == ["update lists/7/tasks/8 (1 field)"])
        #expect(try bench.machine.document(at: "lists/-1/tasks/-2")?.path == "lists/7/tasks/8")
        #expect(try bench.data(at: "lists/-1/tasks/-2") == ["t": "edited"])
    }

    @Test func `The answer says the document, and the queue shows later writes under its name`() throws {
        let bench = try TestBench.naming()
        bench.write(try .create(local, ["t": "Milk"]), at: 1)
        bench.write(try .update(local, ["t": "Bread"]), at: 2)
        bench.name(named, ["t": "Milk"], at: 2000)
        let answer = try bench.answers[1001]?.get()
        #expect(answer?.acknowledgement(of: WriteBatch([.delete(local)])).added == named)
        let renamed = bench.queueChanges.compactMap { change in
            if case .renamed(let batch) = change { batch.writes.map(\.path) } else { nil }
        }
        #expect(renamed == [[named]])
    }

    @Test func `The row that the stream showed first is not replaced by what was sent`() throws {
        let bench = try TestBench.naming()
        let query = LiveQuery.query(Query(in: "tasks"))
        bench.feed(.listen(1, query, ViewOptions()))
        bench.tell(2, [], results: [], at: 1000, isFirst: true)
        bench.write(try .create(local, ["t": "Milk"]), at: 1)
        bench.write(try .update(local, ["n": 2]), at: 2)
        bench.tell(2, [(named, ["t": "changed since"])], results: [named], at: 3000)
        bench.name(named, ["t": "Milk"], at: 2000)
        #expect(bench.shown == ["41"])
        #expect(try bench.data(at: named) == ["t": "changed since", "n": 2])
        #expect(bench.wrongChanges == nil)
    }

    @Test func `A document that no one added is neither written to nor referred to`() throws {
        let bench = try offline()
        func refusal(_ writes: DocumentWrite...) -> StorageError? {
            bench.feed(.write(1, writes, at: Timestamp(microseconds: 1)))
            if case .failure(let error)? = bench.answers[1] { return error } else { return nil }
        }
        #expect(try refusal(.update(local, ["n": 1]))?.message.contains("no key yet") == true)
        #expect(try refusal(.set("steps/a", ["task": .of(local)]))?.message.contains("was not added") == true)
        #expect(try refusal(.set("tasks/-1/notes/x", ["n": 1]))?.code == .invalidArgument)
        #expect(try refusal(.create(local, ["self": .of(local)]))?.code == .invalidArgument)
        #expect(try refusal(.create(local, ["n": 1]), .set("steps/a", ["n": 1]))?.code == .unsupported)
        #expect(try bench.machine.queue().isEmpty)
    }

    @Test func `Each user has names of their own, and a wipe forgets them`() throws {
        let store = MemoryStore()
        let bench = try TestBench.naming(over: store)
        bench.write(try .create(local, ["t": "Milk"]), at: 1)
        bench.name(named, ["t": "Milk"], at: 2000)
        bench.feed(.setUser(QueueOwner("bob")))
        #expect(try bench.machine.document(at: local)?.exists != true)
        bench.feed(.setUser(QueueOwner(nil)))
        #expect(try bench.machine.document(at: local)?.path == named)
        store.wipe(of: QueueOwner("bob"))
        let kept = try TestBench.naming(over: store)
        kept.write(try .update(local, ["n": 1]), at: 2)
        #expect(kept.sent.last?.writes[0].path == named)
        store.wipe(of: QueueOwner(nil))
        let wiped = try TestBench.naming(over: store)
        wiped.write(try .update(local, ["n": 1]), at: 3)
        #expect(wiped.sent.isEmpty)
    }

    @Test func `While the store fails, nothing gets a name, and then everything does`() throws {
        let store = FlakyStore(MemoryStore())
        let bench = try TestBench.naming(over: store)
        bench.feed(.listen(1, .document(local), ViewOptions()))
        bench.write(try .create(local, ["t": "Milk"]), at: 1)
        bench.write(try .update(local, ["n": 2]), at: 2)
        store.failing = [.acknowledgeBatch]
        bench.name(named, ["t": "Milk"], at: 2000)
        #expect(try bench.queued == ["create tasks/-1 (1 field)", "update tasks/-1 (1 field)"])
        store.failing = [.runQuery]
        bench.feed(.timer(.recovery))
        #expect(try bench.queued == ["update tasks/41 (1 field)"])
        store.failing = []
        bench.feed(.timer(.recovery))
        #expect(bench.sent.last?.writes[0].path == named)
        #expect(bench.snapshots.last?.documents.map(\.path) == [named])
        #expect(bench.failures.isEmpty)
    }
}

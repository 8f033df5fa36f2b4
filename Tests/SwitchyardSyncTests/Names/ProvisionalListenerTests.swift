import Switchyard
import Testing

@testable import SwitchyardSync

/// Listeners of documents that get their names while they listen.
@Suite struct ProvisionalListenerTests {
    private let local: StoragePath = "tasks/-1"
    private let named: StoragePath = "tasks/41"

    @Test(arguments: [CachePolicy.standard, .eager])
    func `A listener of the document goes on and shows it under its name`(_ policy: CachePolicy) throws {
        let bench = try TestBench.naming(policy)
        bench.write(try .create(local, ["t": "Milk"]), at: 1)
        bench.feed(.listen(1, .document(local), ViewOptions()))
        #expect(bench.snapshots.last?.documents.map(\.path) == [local])
        #expect(bench.snapshots.last?.hasPendingWrites == true)
        bench.name(named, ["t": "milk"], at: 2000)
        #expect(bench.snapshots.last?.documents.map(\.path) == [named])
        #expect(bench.snapshots.last?.documents.first?.data == ["t": "milk"])
        #expect(bench.snapshots.last?.hasPendingWrites == false)
        #expect(bench.snapshots.last?.query == .document(named))
        #expect(bench.requests.last?.target == .document(named), "the server is asked for the row")
        let target = try #require(bench.requests.last?.id)
        bench.answer(target, [(named, ["t": "from somebody"])], at: 3000)
        #expect(bench.snapshots.last?.documents.first?.data == ["t": "from somebody"])
        #expect(bench.snapshots.last?.isFromCache == false)
        #expect(bench.wrongChanges == nil)
        // The local name is good for a new listener, too, and shares the target.
        let requests = bench.requests.count
        bench.feed(.listen(2, .document(local), ViewOptions()))
        #expect(bench.snapshots.last?.documents.map(\.path) == [named])
        #expect(bench.requests.count == requests)
        bench.feed(.unlisten(1))
        bench.feed(.unlisten(2))
        #expect(!bench.machine.hasListeners)
    }

    @Test func `A listener that was confirmed under the local name is told that the new one is`() throws {
        let bench = try TestBench.naming()
        bench.write(try .create(local, ["t": "Milk"]), at: 1)
        var options = ViewOptions(includesMetadataChanges: false)
        options.announcesConfirmation = true
        bench.feed(.listen(1, .document(local), options))
        bench.answer(2, [], at: 1000)
        bench.name(named, ["t": "Milk"], at: 2000)
        #expect(bench.snapshots.last?.isFromCache == true)
        bench.answer(4, [(named, ["t": "Milk"])], at: 3000)
        #expect(bench.snapshots.last?.documents.map(\.path) == [named])
        #expect(bench.snapshots.last?.isFromCache == false)
    }

    @Test(arguments: [true, false], [true, false])
    func `A live query shows the row in its place, once, without a gap`(isDecided: Bool, isReturned: Bool) throws {
        let bench = try TestBench.naming()
        bench.feed(.listen(1, .query(Query(in: "tasks").ordered(by: "t")), ViewOptions()))
        let others: [(StoragePath, DocumentData)] = [("tasks/1", ["t": "a"]), ("tasks/2", ["t": "z"])]
        if isDecided {
            bench.tell(2, others, results: others.map(\.0), at: 1000, isFirst: true)
        } else {
            bench.answer(2, others, at: 1000)
        }
        bench.write(try .create(local, ["t": "m"]), at: 1)
        #expect(bench.shown == ["1", "-1", "2"])
        bench.name(named, ["t": "m"], at: 2000, isReturned: isReturned)
        #expect(bench.shown == ["1", "41", "2"])
        #expect(bench.requests.count == 1, "nothing is looked up")
        let own: (StoragePath, DocumentData) = (named, ["t": "m"])
        if isDecided {
            bench.tell(2, [own], results: ["tasks/1", named, "tasks/2"], at: 3000)
        } else {
            bench.answer(2, [own], at: 3000, isFirst: false)
        }
        #expect(bench.shown == ["1", "41", "2"])
        #expect(bench.snapshots.last?.hasPendingWrites == false)
        #expect(bench.snapshots.allSatisfy { $0.documents.count { $0["t"] == "m" } <= 1 })
        #expect(bench.wrongChanges == nil)
    }

    @Test func `A query with a limit, in the order of names, gets who belongs there`() throws {
        let bench = try TestBench.naming()
        bench.answer(2, [], at: 1)
        bench.feed(.listen(1, .query(Query(in: "tasks").limited(to: 1)), ViewOptions()))
        bench.answer(2, [("tasks/40", ["t": "a"])], at: 1000)
        bench.write(try .create(local, ["t": "m"]), at: 1)
        #expect(bench.shown == ["-1"])
        bench.name(named, ["t": "m"], at: 2000)
        #expect(bench.shown == ["40"])
        #expect(bench.wrongChanges == nil)
    }

    @Test func `Queries that name the document, in a condition or a collection, go on with its name`() throws {
        let bench = try TestBench.naming()
        bench.write(try .create(local, ["t": "Milk"]), at: 1)
        bench.write(try .set("steps/a", ["task": .of(local)]), at: 2)
        bench.write(try .set("tasks/-1/notes/x", ["n": 1]), at: 3)
        let steps = Query(in: "steps").where("task", .equal, local)
        bench.feed(.listen(1, .query(steps), ViewOptions()))
        bench.feed(.listen(2, .query(Query(in: "tasks/-1/notes")), ViewOptions()))
        #expect(bench.snapshots.map(\.documents.count) == [1, 1])
        bench.name(named, ["t": "Milk"], at: 2000)
        let targets = Set(bench.requests.suffix(2).map(\.target))
        #expect(
            targets == [
                LiveQuery.query(Query(in: "steps").where("task", .equal, named)).target,
                LiveQuery.query(Query(in: "tasks/41/notes")).target,
            ])
        let last = bench.snapshots.suffix(2).map { $0.documents.map(\.path) }
        #expect(last == [["steps/a"], ["tasks/41/notes/x"]])
        bench.acknowledge([("steps/a", ["task": .of(named)])], at: 3000)
        bench.acknowledge([("tasks/41/notes/x", ["n": 1])], at: 4000)
        #expect(try bench.machine.run(steps).map(\.path) == ["steps/a"])
        for id in [1, 2] { bench.feed(.unlisten(id)) }
        #expect(!bench.machine.hasListeners)
    }
}

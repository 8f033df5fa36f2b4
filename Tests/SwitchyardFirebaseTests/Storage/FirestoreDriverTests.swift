import Switchyard
import SwitchyardSync
import SwitchyardTestSupport
import Testing

@testable import SwitchyardFirebase

/// The driver against the real Firestore emulator.
@Suite(.enabled(if: FirestoreEmulator.isInstalled, "the Firestore emulator is not installed"))
struct FirestoreDriverTests {
    private func withDriver(_ body: (FirestoreDriver) async throws -> Void) async throws {
        let driver = FirestoreDriver(service: try await FirestoreSite().service(), ledger: "ledger")
        do {
            try await body(driver)
        } catch {
            await driver.shutDown()
            throw error
        }
        await driver.shutDown()
    }

    private func batch(_ id: String, _ writes: DocumentWrite...) -> OutgoingBatch {
        OutgoingBatch(id: id, writes: writes, mayHaveBeenSent: false)
    }

    @Test func `A document that was committed is read back with its version`() async throws {
        try await withDriver { driver in
            let result = try await driver.commit(batch("b1", try .set("users/alice", ["name": "Alice", "age": 30])))
            let fetched = try await driver.documents(["users/alice", "users/bob"])
            #expect(fetched.documents[0].data == ["age": 30, "name": "Alice"])
            #expect(fetched.documents[0].updateTime == result.updateTimes[0])
            #expect(!fetched.documents[1].exists)
            #expect(fetched.readTime >= result.commitTime)
        }
    }

    @Test func `A batch with an increment that is sent twice counts once, and the ledger knows it`() async throws {
        try await withDriver { driver in
            let increment = batch("only-once", try .merge("counters/a", ["n": .increment(5)]))
            let unsent = try await driver.result(of: increment)
            #expect(unsent == nil)
            let first = try await driver.commit(increment)
            #expect(first.transformResults == [[5]])
            let second = try await driver.commit(increment)
            #expect(second.commitTime == first.commitTime)
            let known = try await driver.result(of: increment)
            #expect(known?.commitTime == first.commitTime)
            let document = try await driver.documents(["counters/a"]).documents[0]
            #expect(document["n"] == 5)
        }
    }

    @Test func `A live query reports its results, and of one that is added later`() async throws {
        try await withDriver { driver in
            _ = try await driver.commit(batch("b1", try .set("cities/ulm", ["pop": 126])))
            let watch = try await driver.openWatch()
            let query = Query(in: "cities").where("pop", .greaterThan, 100)
            watch.send(.add(TargetRequest(id: 2, target: .query(query))))
            var view = WatchView()
            try await view.read(watch) { $0.documents.count == 1 && $0.isCurrent }
            _ = try await driver.commit(batch("b2", try .set("cities/köln 🎭", ["pop": 1087])))
            try await view.read(watch) { $0.documents.count == 2 && $0.isCurrent }
            #expect(Set(view.documents.keys.map(\.id)) == ["ulm", "köln 🎭"])
            watch.close()
        }
    }

    @Test func `A query that the server refuses ends its target and leaves the others`() async throws {
        try await withDriver { driver in
            let watch = try await driver.openWatch()
            var descending = Query(in: "cities")
            descending = descending.ordered(by: .documentID, .descending)
            watch.send(.add(TargetRequest(id: 2, target: .query(descending))))
            watch.send(.add(TargetRequest(id: 4, target: .document("cities/ulm"))))
            var view = WatchView()
            try await view.read(watch) { $0.refused[2] != nil && $0.isCurrent }
            #expect(view.refused[4] == nil)
            watch.close()
        }
    }
}

/// What a reader of the stream makes of it: enough to wait for a state.
private struct WatchView {
    var documents: [StoragePath: DocumentSnapshot] = [:]
    var refused: [Int: StorageError] = [:]
    /// Whether a snapshot came after the last change.
    var isCurrent = false

    mutating func read(_ watch: any WatchConnection, until isDone: (WatchView) -> Bool) async throws {
        isCurrent = false
        while let event = try await watch.next() {
            switch event {
            case .changed(let document, _, _, _): documents[document.path] = document
            case .deleted(let path, _, _), .left(let path, _): documents[path] = nil
            case .reset: documents = [:]
            case .removed(let ids, let cause?): for id in ids { refused[id] = cause }
            case .snapshot: isCurrent = true
            default: break
            }
            if isDone(self) { return }
        }
        Issue.record("the stream ended early")
    }
}

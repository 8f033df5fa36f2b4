import Foundation
import Switchyard
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSync

/// Two names that look alike, and that Swift takes for equal, are two names everywhere.
@Suite struct NamesAreBytesTests {
    private let composed = "caf\u{E9}"
    private let decomposed = "cafe\u{301}"

    @Test func `Groups of names that look alike are different queries and targets`() throws {
        #expect(composed == decomposed)
        let (left, right) = (Query(group: composed), Query(group: decomposed))
        #expect(left != right && Set([left, right]).count == 2)
        #expect(Set([LiveQuery.query(left).target, LiveQuery.query(right).target]).count == 2)
        #expect(left == Query(group: composed) && Set([left, Query(group: composed)]).count == 1)
        #expect(left != Query(group: composed, under: "a/b"))
    }

    @Test(arguments: [false, true])
    func `Each group has its own listener, target and results`(isOnDisk: Bool) throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let store: any SyncStore = isOnDisk ? try SQLiteStore(folder: folder.url) : MemoryStore()
        let bench = try TestBench(over: store)
        bench.feed(.listen(1, .query(Query(group: composed)), ViewOptions()))
        bench.feed(.listen(2, .query(Query(group: decomposed)), ViewOptions()))
        #expect(bench.requests.map(\.id) == [2, 4])
        let path = StoragePath(unchecked: "\(composed)/x")
        bench.feed(.write(1, [try .set(path, ["n": 1])], at: Timestamp(microseconds: 5)))
        #expect(try bench.machine.run(Query(group: composed)).map(\.path) == [path])
        #expect(try bench.machine.run(Query(group: decomposed)).isEmpty)
        for snapshot in bench.snapshots where !snapshot.documents.isEmpty {
            #expect(snapshot.query == .query(Query(group: composed)))
        }
        store.close()
    }

    @Test(arguments: [false, true])
    func `Users whose IDs look alike have a queue each`(isOnDisk: Bool) throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let store: any SyncStore = isOnDisk ? try SQLiteStore(folder: folder.url) : MemoryStore()
        let local = LocalStore(store: store, policy: .standard, owner: QueueOwner(composed))
        try local.open()
        _ = try local.write([.set("rooms/a", ["n": 1])], as: "b1", at: Timestamp(microseconds: 5))
        #expect(QueueOwner(composed) != QueueOwner(decomposed) && QueueOwner(nil) != QueueOwner(""))
        _ = try local.changeOwner(to: QueueOwner(decomposed))
        #expect(try local.batches().isEmpty)
        _ = try local.changeOwner(to: QueueOwner(composed))
        #expect(try local.batches().count == 1)
        store.close()
    }

    @Test(arguments: [false, true])
    func `Fields, documents and collections that look alike are kept apart`(isOnDisk: Bool) throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let store: any SyncStore = isOnDisk ? try SQLiteStore(folder: folder.url) : MemoryStore()
        let local = LocalStore(store: store, policy: .standard, owner: QueueOwner(nil))
        try local.open()
        var data = DocumentData()
        data[composed] = 1
        data[decomposed] = 2
        let names = [composed, decomposed]
        for (number, name) in names.enumerated() {
            for other in names {
                let path = StoragePath(unchecked: "\(name)/\(other)")
                data["n"] = .of(number)
                let document = CachedDocument.found(path, data, version: Timestamp(microseconds: 9))
                _ = try local.apply(RemoteEvent(version: Timestamp(microseconds: 9), documents: [document]))
            }
        }
        for (number, name) in names.enumerated() {
            let collection = CollectionPath(unchecked: name)
            let found = try local.run(.query(Query(in: collection))).documents
            #expect(found.count == 2)
            for document in found.values {
                #expect(document["n"] == .of(number))
                #expect(document.data?[composed] == 1 && document.data?[decomposed] == 2)
            }
            let field = FieldPath(unchecked: [name])
            #expect(
                try local.run(.query(Query(in: collection).where(field, .equal, 1))).documents.count
                    == (number == 0 ? 2 : 0))
        }
        store.close()
    }
}

import Foundation
import Switchyard
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSync

/// The pending writes of a user over a cache that has changed while another user's queue was in use.
@Suite struct OtherUsersOverlayTests {
    private let path: StoragePath = "rooms/a"
    private let alice = QueueOwner("alice")
    private let bob = QueueOwner("bob")

    private func time(_ seconds: Int) -> Timestamp { Timestamp(microseconds: Int64(seconds) * 1_000_000) }

    private func local(_ store: any SyncStore, _ owner: QueueOwner) throws -> LocalStore {
        let local = LocalStore(store: store, policy: .standard, owner: owner)
        try local.open()
        return local
    }

    private func tell(_ local: LocalStore, _ data: DocumentData?, at seconds: Int) throws {
        let document =
            data.map { CachedDocument.found(path, $0, version: time(seconds)) }
            ?? .missing(path, version: time(seconds))
        _ = try local.apply(RemoteEvent(version: time(seconds), documents: [document]))
    }

    @Test func `An update of a document that was deleted meanwhile shows nothing`() throws {
        let local = try local(MemoryStore(), bob)
        try tell(local, ["n": 1, "title": "Hall"], at: 1)
        _ = try local.write([.update(path, ["n": 2])], as: "b1", at: time(2))
        #expect(try local.document(at: path)?.data == ["n": 2, "title": "Hall"])
        _ = try local.changeOwner(to: alice)
        try tell(local, nil, at: 3)
        let changes = try local.changeOwner(to: bob)
        #expect(changes[path]?.exists == false)
        #expect(try local.document(at: path)?.exists == false)
        #expect(try local.run(.query(Query(in: "rooms"))).documents.isEmpty)
    }

    @Test func `An update of a document that has come into being meanwhile shows`() throws {
        let local = try local(MemoryStore(), bob)
        try tell(local, nil, at: 1)
        _ = try local.write([.update(path, ["n": 2])], as: "b1", at: time(2))
        #expect(try local.document(at: path)?.exists == false)
        _ = try local.changeOwner(to: alice)
        try tell(local, ["n": 1, "title": "Hall"], at: 3)
        _ = try local.changeOwner(to: bob)
        #expect(try local.document(at: path)?.data == ["n": 2, "title": "Hall"])
    }

    @Test func `A deletion by the other user counts once the server has acknowledged it`() throws {
        let local = try local(MemoryStore(), bob)
        try tell(local, ["n": 1, "title": "Hall"], at: 1)
        _ = try local.write([.update(path, ["n": 2])], as: "b1", at: time(2))
        _ = try local.changeOwner(to: alice)
        let (batch, _) = try local.write([.delete(path)], as: "a1", at: time(3))
        _ = try local.acknowledge(batch, CommitResult(commitTime: time(4)), isDurable: true)
        _ = try local.changeOwner(to: bob)
        #expect(try local.document(at: path)?.exists == false)
    }

    @Test(arguments: [false, true])
    func `It is the same after a restart`(isOnDisk: Bool) throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        var store: any SyncStore = isOnDisk ? try SQLiteStore(folder: folder.url) : MemoryStore()
        let before = try local(store, bob)
        try tell(before, ["n": 1, "title": "Hall"], at: 1)
        _ = try before.write([.update(path, ["n": 2])], as: "b1", at: time(2))
        _ = try before.changeOwner(to: alice)
        try tell(before, nil, at: 3)
        if isOnDisk {
            store.close()
            store = try SQLiteStore(folder: folder.url)
        }
        let after = try local(store, bob)
        #expect(try after.document(at: path)?.exists == false)
        #expect(try after.batches().map(\.id) == ["b1"])
        store.close()
    }

    @Test(arguments: [false, true])
    func `A wipe of the other user takes the document under an update, and the update shows nothing`(
        isOnDisk: Bool
    ) throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let store: any SyncStore = isOnDisk ? try SQLiteStore(folder: folder.url) : MemoryStore()
        let before = try local(store, bob)
        try tell(before, ["n": 1, "title": "Hall"], at: 1)
        _ = try before.write([.update(path, ["n": 2])], as: "b1", at: time(2))
        _ = try before.changeOwner(to: alice)
        try store.wipe(of: alice)
        let after = try local(store, bob)
        #expect(try after.document(at: path)?.exists != true)
        #expect(try after.run(.query(Query(in: "rooms"))).documents.isEmpty)
        try tell(after, ["n": 1, "title": "Hall"], at: 9)
        #expect(try after.document(at: path)?.data == ["n": 2, "title": "Hall"])
        store.close()
    }

    @Test func `A view shows the difference when the user comes back`() throws {
        let bench = try TestBench()
        bench.feed(.listen(1, .query(Query(in: "rooms")), ViewOptions()))
        bench.answer(2, [(path, ["n": 1, "title": "Hall"])], at: 1000)
        bench.feed(.setUser(bob))
        bench.feed(.write(1, [try .update(path, ["n": 2])], at: time(1)))
        bench.feed(.setUser(alice))
        #expect(bench.snapshots.last?.documents.first?["n"] == 1)
        bench.feed(.watched(.added([2])))
        bench.feed(.watched(.deleted(path, version: Timestamp(microseconds: 2000), removedFrom: [2])))
        bench.feed(.watched(.current([2], token: [9])))
        bench.feed(.watched(.snapshot(version: Timestamp(microseconds: 2000))))
        #expect(bench.snapshots.last?.documents.isEmpty == true)
        bench.feed(.setUser(bob))
        #expect(bench.snapshots.last?.documents.isEmpty == true)
    }
}

import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSync

/// All that is kept on a device is deleted while streams are open.
@Suite(.timeLimit(.minutes(2))) struct WipeTests {
    private let server = ModelServer()
    private let query = Query(in: "rooms")

    @Test(arguments: [false, true])
    func `Streams see their results vanish and go on from nothing`(overSQLite: Bool) async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        for number in 1...3 {
            _ = try server.commit([.set(StoragePath(validating: "rooms/\(number)"), ["n": .of(number)])])
        }
        let client = device(server, overSQLite ? .folder(folder.url) : .memory)
        var rooms = client.snapshots(of: query).makeAsyncIterator()
        while let snapshot = try await rooms.next(), snapshot.metadata.isFromCache {}
        var room = client.snapshots(of: "rooms/1" as StoragePath).makeAsyncIterator()
        #expect(try await room.next()?["n"] == 1)
        var rounds = client.snapshotsInSync().makeAsyncIterator()
        #expect(try await rounds.next() != nil)
        try await client.disableNetwork()
        let receipt = try await client.setDocument("rooms/1", ["n": 7])
        #expect(try await room.next()?["n"] == 7)
        while let snapshot = try await rooms.next(), !snapshot.metadata.hasPendingWrites {}
        var queue = client.pendingWrites().makeAsyncIterator()
        #expect(try await queue.next()?.count == 1)

        try await client.wipe()
        let lost = await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
        #expect(lost?.code == .cancelled)
        let empty = try #require(try await rooms.next())
        #expect(empty.isEmpty && empty.metadata.isFromCache && !empty.metadata.hasPendingWrites)
        #expect(empty.changes.map(\.kind) == [.removed, .removed, .removed])
        #expect(try await room.next()?.exists == false)
        #expect(try await queue.next()?.isEmpty == true)
        #expect(try await client.documents(query, from: .cache).isEmpty)

        try await client.enableNetwork()
        var last: QuerySnapshot?
        while let snapshot = try await rooms.next() {
            last = snapshot
            if !snapshot.metadata.isFromCache { break }
        }
        #expect(last?.documents.map { $0["n"] } == [1, 2, 3])
        while let document = try await room.next(), document["n"] != 1 {}
        #expect(try await rounds.next() != nil)
        await client.shutDown()
    }

    @Test func `Nothing is left behind: the streams end as any others`() async throws {
        let client = device(server)
        let stream = Task { [query] in for try await _ in client.snapshots(of: query) {} }
        try await eventually("the stream is open") { await client.engine.listenerCount == 1 }
        try await client.wipe()
        #expect(await client.engine.listenerCount == 1)
        stream.cancel()
        try await eventually("the stream is left") { await client.engine.listenerCount == 0 }
        try await eventually("nothing is watched") { await client.engine.watchedTargetCount == 0 }
        try await client.clearPersistence()
        await client.shutDown()
    }

    @Test(arguments: [false, true])
    func `A wipe takes the present user's writes and the cache, and leaves what others have queued`(
        overSQLite: Bool
    ) async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        _ = try server.commit([.set("rooms/a", ["n": 0]), .set("rooms/c", ["n": 0])])
        let client = device(server, overSQLite ? .folder(folder.url) : .memory, user: "alice")
        _ = try await client.documents(query, from: .server)
        try await client.disableNetwork()
        let waiting = try await client.updateDocument("rooms/a", ["n": 1])
        try await client.setDocument("halls/a", ["n": 1])
        await client.setUser("bob")
        let lost = try await client.setDocument("rooms/b", ["n": 2])
        try await client.wipe()
        #expect(try await client.queue.isEmpty)
        #expect(try await client.documents(query, from: .cache).isEmpty)
        let error = await #expect(throws: StorageError.self) { try await lost.acknowledged() }
        #expect(error?.code == .cancelled)

        await client.setUser("alice")
        #expect(try await client.queue.map(\.id).first == waiting.batchID)
        #expect(try await client.queue.count == 2)
        let halls = try await client.documents(Query(group: "halls"), from: .cache)
        #expect(halls.documents.map { $0["n"] } == [1])
        var room = client.snapshots(of: "rooms/a" as StoragePath).makeAsyncIterator()
        try await client.enableNetwork()
        while let document = try await room.next(), document["n"] != 1 {}
        try await waiting.acknowledged()
        try await client.waitForPendingWrites()
        #expect(server.documents.map(\.path).sorted() == ["halls/a", "rooms/a", "rooms/c"])
        await client.shutDown()
    }

    @Test func `Whoever waits for the queue goes on waiting over the wipe of somebody else`() async throws {
        let client = device(server, user: "alice")
        try await client.disableNetwork()
        try await client.setDocument("rooms/a", ["n": 1])
        let waiting = Task { try await client.waitForPendingWrites() }
        try await eventually("it waits") { await client.engine.queueWaitCount == 1 }
        try await client.wipe(of: "bob")
        #expect(server.documents.isEmpty)
        try await client.enableNetwork()
        try await waiting.value
        #expect(server.documents.map(\.path) == ["rooms/a"])
        await client.shutDown()
    }

    @Test func `What was queued before a restart is sent, though somebody else's wipe is all that is asked`()
        async throws
    {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let before = device(server, .folder(folder.url), user: "alice")
        try await before.disableNetwork()
        try await before.setDocument("rooms/a", ["n": 1])
        await before.shutDown()
        let client = device(server, .folder(folder.url), user: "alice")
        try await client.wipe(of: "bob")
        try await eventually("it is sent") { [server] in server.documents.map(\.path) == ["rooms/a"] }
        await client.shutDown()
    }

    @Test func `A wipe takes refused writes of the present user alone`() async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let client = device(server, .folder(folder.url), user: "alice")
        server.refuse { _ in StorageError(.unauthorized, "Not for you.") }
        for user in ["alice", "bob"] {
            await client.setUser(user)
            try await client.setDocument("rooms/a", ["n": 1])
            try await client.waitForPendingWrites()
            #expect(try await client.refusals.count == 1)
        }
        try await client.wipe()
        #expect(try await client.refusals.isEmpty)
        await client.setUser("alice")
        #expect(try await client.refusals.count == 1)
        await client.shutDown()
    }

    @Test func `A wipe takes databases that were set aside, and nothing of somebody else's`() async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let old = Data("what the user wrote".utf8)
        for name in ["store.sqlite", "store.damaged-7.sqlite", "store.damaged-7.sqlite-wal", "store.foreign-1.sqlite"] {
            try old.write(to: folder.file(name))
        }
        let client = device(server, .folder(folder.url), user: "alice")
        #expect(try await client.setAsideData()?.reason == .damaged)
        try await client.wipe()
        #expect(
            folder.names.filter { $0.hasPrefix("store.") && $0.contains("-") && !$0.hasPrefix("store.sqlite") }
                == ["store.foreign-1.sqlite"])
        #expect(try await client.setAsideData() == nil)
        await client.shutDown()
    }
}

extension SyncEngine {
    fileprivate var queueWaitCount: Int { openMachine?.waiting.queue.count ?? 0 }
}

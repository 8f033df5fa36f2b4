import Switchyard
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
        #expect(try await client.results(of: query, from: .cache).isEmpty)

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
}

import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSync

/// What a client does with what it keeps: without network, with bundles, at the end.
@Suite(.timeLimit(.minutes(2))) struct LocalLifeTests {
    private let server = ModelServer()
    private let query = Query(in: "rooms")

    private func seed(_ count: Int) throws {
        for number in 0..<count {
            _ = try server.commit([.set(StoragePath(validating: "rooms/\(number)"), ["n": .of(number)])])
        }
    }

    // MARK: Network

    @Test func `Without network reads come from the cache, and those that insist fail`() async throws {
        try seed(3)
        let client = device(server)
        _ = try await client.documents(query)
        try await client.disableNetwork()
        let cached = try await client.documents(query)
        #expect(cached.count == 3 && cached.metadata.isFromCache)
        #expect(try await client.document("rooms/1")["n"] == 1)
        let insisting = await #expect(throws: StorageError.self) { try await client.document("rooms/1", from: .server) }
        #expect(insisting?.code == .unavailable)
        let unknown = await #expect(throws: StorageError.self) { try await client.document("rooms/9", from: .cache) }
        #expect(unknown?.code == .unavailable)
        try await client.enableNetwork()
        #expect(try await client.document("rooms/1", from: .server)["n"] == 1)
        await client.shutDown()
    }

    @Test func `A stream lives through the loss of the network and shows everything that happened meanwhile`()
        async throws
    {
        try seed(3)
        let client = device(server)
        var options = ListenOptions()
        options.includesMetadataChanges = true
        var snapshots = client.snapshots(of: query, options: options).makeAsyncIterator()
        while let snapshot = try await snapshots.next(), snapshot.metadata.isFromCache {}
        try await client.disableNetwork()
        let offline = try #require(try await snapshots.next())
        #expect(offline.metadata.isFromCache && offline.count == 3)
        _ = try server.commit([.delete("rooms/0")])
        try seed(5)
        try await client.enableNetwork()
        while let snapshot = try await snapshots.next(), snapshot.metadata.isFromCache || snapshot.count != 5 {}
        await client.shutDown()
    }

    // MARK: Snapshots in sync

    @Test func `Snapshots in sync: once at the beginning, and after each round that reached a listener`() async throws {
        let client = device(server)
        var rounds = client.snapshotsInSync().makeAsyncIterator()
        #expect(try await rounds.next() != nil)
        var snapshots = client.snapshots(of: query).makeAsyncIterator()
        while let snapshot = try await snapshots.next(), snapshot.metadata.isFromCache {}
        #expect(try await rounds.next() != nil)
        try await client.setDocument("rooms/a", ["n": 1])
        #expect(try await rounds.next() != nil)
        await client.shutDown()
    }

    // MARK: Clearing

    @Test func `Clearing is refused while a stream is open, and forgets cache and queue afterwards`() async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        try seed(2)
        let client = device(server, .folder(folder.url))
        let stream = Task { for try await _ in client.snapshots(of: query) {} }
        try await eventually("the stream is open") { await client.engine.listenerCount == 1 }
        let refused = await #expect(throws: StorageError.self) { try await client.clearPersistence() }
        #expect(refused?.code == .failedPrecondition)
        stream.cancel()
        try await eventually("the stream is left") { await client.engine.listenerCount == 0 }

        try await client.disableNetwork()
        let receipt = try await client.setDocument("rooms/mine", ["n": 1])
        try await client.clearPersistence()
        let lost = await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
        #expect(lost?.code == .cancelled)
        #expect(try await client.queue.isEmpty)
        #expect(try await client.documents(query, from: .cache).isEmpty)
        #expect(server.documents.count == 2)
        // Still without network, and then as new.
        let offline = try await client.setDocument("rooms/new", ["n": 1])
        #expect(try await client.queue.map(\.id) == [offline.batchID])
        #expect(server.documents.count == 2)
        try await client.enableNetwork()
        try await offline.acknowledged()
        #expect(server.documents.count == 3)
        await client.shutDown()
    }

    @Test func `Shutting down ends every stream and every call, and releases the files`() async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let client = device(server, .folder(folder.url))
        let stream = Task { for try await _ in client.snapshots(of: query) {} }
        let queue = Task { for try await _ in client.pendingWrites() {} }
        try await eventually("the streams are open") { await client.engine.listenerCount == 2 }
        await client.shutDown()
        for task in [stream, queue] {
            let error = await #expect(throws: StorageError.self) { try await task.value }
            #expect(error?.code == .shutDown)
        }
        let later = await #expect(throws: StorageError.self) { try await client.setDocument("rooms/a", ["n": 1]) }
        #expect(later?.code == .shutDown)
        let again = device(server, .folder(folder.url))
        #expect(try await again.queue.isEmpty)
        await again.shutDown()
    }

    @Test func `Every way of leaving a stream leaves no listener behind`() async throws {
        let client = device(server)
        for _ in 0..<50 {
            _ = try await client.snapshots(of: query).newest
            _ = try await client.snapshots(of: "rooms/a").newest
            let task = Task { for try await _ in client.snapshots(of: query) {} }
            task.cancel()
            _ = await task.result
        }
        try await eventually("no one listens") { await client.engine.listenerCount == 0 }
        try await eventually("nothing is watched") { await client.engine.watchedTargetCount == 0 }
        await client.shutDown()
    }

    // MARK: What was there before

    @Test func `A client whose storage had to be set aside says so, and where it is`() async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        try Data(repeating: 0x41, count: 5000).write(to: folder.file("store.sqlite"))
        let client = device(server, .folder(folder.url))
        let aside = try #require(try await client.setAsideData())
        #expect(aside.reason == .damaged)
        #expect(try Data(contentsOf: aside.location).count == 5000)
        try await client.setDocument("rooms/a", ["n": 1])
        await client.shutDown()
        let next = device(server, .folder(folder.url))
        #expect(try await next.setAsideData() == nil)
        await next.shutDown()
    }

    @Test func `A folder in use is refused, and the call says so`() async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let first = device(server, .folder(folder.url))
        try await first.setDocument("rooms/a", ["n": 1])
        let second = device(server, .folder(folder.url))
        let error = await #expect(throws: StorageError.self) { try await second.setDocument("rooms/b", ["n": 1]) }
        #expect(error?.code == .localStore)
        await first.shutDown()
        try await second.setDocument("rooms/b", ["n": 1])
        await second.shutDown()
    }

    // MARK: Bundles

    private func bundle(_ value: DocumentValue, at seconds: Int64) throws -> DocumentBundle {
        let time = try Timestamp(validatingSeconds: seconds, nanoseconds: 0)
        let named = DocumentBundle.NamedQuery(name: "open rooms", query: query, readTime: time)
        let document = DocumentBundle.Document(
            snapshot: .existing("rooms/packed", ["n": value], updateTime: time), readTime: time, queries: ["open rooms"]
        )
        return DocumentBundle(id: "rooms", version: 1, createTime: time, namedQueries: [named], documents: [document])
    }

    @Test func `A bundle shows in open streams and outlives its client; an older one of its name is passed over`()
        async throws
    {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let client = device(server, .folder(folder.url))
        try await client.disableNetwork()
        #expect(try await client.namedQuery("open rooms") == nil)
        var snapshots = client.snapshots(of: query).makeAsyncIterator()
        #expect(try await snapshots.next()?.count == 0)
        try await client.loadBundle(bundle(1, at: 1000))
        #expect(try await snapshots.next()?.documents.first?["n"] == 1)
        try await client.loadBundle(bundle(2, at: 2000))
        #expect(try await snapshots.next()?.documents.first?["n"] == 2)
        try await client.loadBundle(bundle(1, at: 1000))
        await client.shutDown()

        let again = device(server, .folder(folder.url))
        try await again.disableNetwork()
        let named = try #require(try await again.namedQuery("open rooms"))
        #expect(try await again.documents(named, from: .cache).documents.first?["n"] == 2)
        await again.shutDown()
    }

    @Test func `A bundle in the provider's own format is the provider's to read`() async throws {
        let client = device(server)
        let error = await #expect(throws: StorageError.self) { try await client.loadBundle(Data()) }
        #expect(error?.code == .unsupported)
        await client.shutDown()
    }

    @Test func `A query of a bundle goes on from the bundle's time`() throws {
        let bench = try TestBench()
        bench.feed(.load(try bundle(1, at: 1000)))
        bench.feed(.listen(1, .query(query), ViewOptions()))
        let request = try #require(bench.requests.last)
        #expect(request.readTime == (try Timestamp(validatingSeconds: 1000, nanoseconds: 0)))
        #expect(request.expectedCount == 1)
        #expect(bench.snapshots.last?.documents.map(\.path) == ["rooms/packed"])
    }

    // MARK: Deleting with everything below

    @Test func `What was queued before a recursive deletion is deleted with the rest, what is written later stays`()
        async throws
    {
        let client = device(server)
        try await client.disableNetwork()
        try await client.setDocument("rooms/a/chairs/1", ["n": 1])
        try await client.setDocument("rooms/a", ["n": 1])
        try await client.enableNetwork()
        let deleted = try await client.deleteRecursively("rooms/a")
        #expect(deleted == 2 && server.documents.isEmpty)
        try await client.setDocument("rooms/a", ["n": 2])
        try await client.waitForPendingWrites()
        #expect(server.documents.map(\.path) == ["rooms/a"])
        await client.shutDown()
    }

    @Test func `A recursive deletion does not wait for a connection`() async throws {
        let client = device(server)
        server.setReachable(false)
        try await client.setDocument("rooms/a", ["n": 1])
        let error = await #expect(throws: StorageError.self) { try await client.deleteRecursively("rooms/a") }
        #expect(error?.code == .unavailable)
        await client.shutDown()
    }

    // MARK: The limit of the cache

    @Test func `Memory while in use keeps what a stream shows, and no longer`() async throws {
        try seed(3)
        let client = device(server, .memoryWhileInUse)
        var snapshots: SnapshotStream<QuerySnapshot, StorageError>.AsyncIterator? =
            client.snapshots(of: query).makeAsyncIterator()
        while let snapshot = try await snapshots?.next(), snapshot.metadata.isFromCache {}
        #expect(try await client.documents(query, from: .cache).count == 3)
        snapshots = nil
        try await eventually("the cache is empty") { try await client.documents(query, from: .cache).isEmpty }
        #expect(try await client.documents(query).count == 3)
        await client.shutDown()
    }

    @Test func `A cache above its limit loses what was not used for longest, and keeps what is in use`() throws {
        var limits = CacheLimits()
        limits.threshold = 2000
        limits.percentile = 50
        let bench = try TestBench(.leastRecentlyUsed(limits))
        for number in 1...10 {
            bench.feed(
                .listen(number, .query(Query(in: try CollectionPath(validating: "c\(number)"))), ViewOptions()))
            let path = try StoragePath(validating: "c\(number)/a")
            bench.answer(number * 2, [(path, ["text": .string(String(repeating: "x", count: 500))])], at: 1000)
            if number != 1 { bench.feed(.unlisten(number)) }
        }
        bench.feed(.write(99, [try .set("c2/a", ["n": 1])], at: Timestamp(microseconds: 1)))
        bench.feed(.collectGarbage(nil))
        let left = try (1...10).filter {
            try bench.machine.document(at: StoragePath(validating: "c\($0)/a"))?.exists ?? false
        }
        // The first is listened to and the second written to; of the others the older half goes.
        #expect(left.starts(with: [1, 2]))
        #expect(left.suffix(4) == [7, 8, 9, 10])
        #expect(left.count < 9)
        bench.feed(.collectGarbage(nil))
        bench.feed(.collectGarbage(nil))
        bench.feed(.collectGarbage(nil))
        #expect(try bench.machine.document(at: "c1/a")?.exists == true)
    }
}

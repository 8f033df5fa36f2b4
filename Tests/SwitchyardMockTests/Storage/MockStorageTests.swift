import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@Suite struct MockStorageTests {
    let backend = MockBackend(now: { Timestamp(microseconds: 1_000_000) })
    var storage: MockStorageClient { MockStorageClient(backend) }

    @Test func `Two mocks never meet`() async throws {
        let one = MockStorageClient()
        let other = MockStorageClient()
        try await one.setDocument("users/alice", ["name": "Alice"])
        #expect(try await one.document("users/alice").exists)
        #expect(try await !other.document("users/alice").exists)
    }

    @Test func `Two devices of one backend see the same documents`() async throws {
        let (phone, tablet) = (storage, storage)
        try await phone.setDocument("users/alice", ["name": "Alice"])
        #expect(try await tablet.document("users/alice")["name"] == "Alice")
    }

    @Test func `Versions rise strictly even when the clock stands still`() async throws {
        let storage = storage
        try await storage.setDocument("a/1", ["n": 1])
        let first = try await storage.document("a/1")
        try await storage.setDocument("a/1", ["n": 2])
        let second = try await storage.document("a/1")
        #expect(try #require(first.updateTime) < #require(second.updateTime))
        #expect(first.createTime == second.createTime)
    }

    @Test func `A write that changes nothing makes no new version and no snapshot`() async throws {
        let storage = storage
        try await storage.setDocument("a/1", ["n": 1])
        let version = try await storage.document("a/1").updateTime
        let seen = Gathered(storage.snapshots(of: "a/1"))
        try await eventually("the first snapshot") { seen.all.count == 1 }
        try await storage.setDocument("a/1", ["n": 1])
        #expect(try await storage.document("a/1").updateTime == version)
        try await storage.setDocument("a/1", ["n": 2])
        try await eventually("the change") { seen.last?["n"] == 2 }
        #expect(seen.all.count == 2)
    }

    @Test func `A batch with one refused write does nothing at all`() async throws {
        let storage = storage
        try await storage.setDocument("a/1", ["n": 1])
        var batch = WriteBatch()
        try batch.set("a/2", ["n": 2])
        try batch.create("a/1", ["n": 3])
        await #expect(throws: StorageError.self) { try await storage.commit(batch).acknowledged() }
        #expect(try await !storage.document("a/2").exists)
        #expect(try await storage.document("a/1")["n"] == 1)
    }

    @Test func `Rival transactions all take effect`() async throws {
        let storage = storage
        try await storage.setDocument("counters/visits", ["n": 0])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    _ = try? await storage.transaction(TransactionOptions(maximumAttempts: 40)) { transaction in
                        let visits = try await transaction.document("counters/visits")
                        let count = visits["n"]?.integerValue ?? 0
                        await Task.yield()
                        try await transaction.update("counters/visits", ["n": .of(count + 1)])
                    }
                }
            }
        }
        #expect(try await storage.document("counters/visits")["n"] == 8)
    }

    @Test func `A transaction that only reads notices a change before its end`() async throws {
        let storage = storage
        try await storage.setDocument("a/1", ["n": 1])
        let attempts = Counter()
        let seen = try await storage.transaction { transaction in
            let document = try await transaction.document("a/1")
            if attempts.next() == 1 { try await storage.updateDocument("a/1", ["n": 2]) }
            return document["n"]
        }
        #expect(seen == 2)
        #expect(attempts.value == 2)
    }

    @Test func `A live query reports what changed, with positions`() async throws {
        let storage = storage
        for number in 1...3 {
            try await storage.setDocument(StoragePath(validating: "a/\(number)"), ["n": .of(number)])
        }
        let query = Query(in: "a").ordered(by: "n")
        let seen = Gathered(storage.snapshots(of: query))
        try await eventually("the first snapshot") { seen.all.count == 1 }
        #expect(seen.all[0].documents.map(\.id) == ["1", "2", "3"])
        try await storage.updateDocument("a/1", ["n": 9])
        try await eventually("the change") { seen.all.count == 2 }
        #expect(seen.all[1].documents.map(\.id) == ["2", "3", "1"])
        #expect(seen.all[1].changes.count == 1)
        #expect(seen.all[1].changes[0].oldIndex == 0)
        #expect(seen.all[1].changes[0].newIndex == 2)
        try await storage.deleteDocument("a/2")
        try await eventually("the removal") { seen.all.count == 3 }
        #expect(seen.all[2].changes.map(\.kind) == [.removed])
    }

    @Test func `A live query with a limit lets the next one in`() async throws {
        let storage = storage
        for number in 1...4 {
            try await storage.setDocument(StoragePath(validating: "a/\(number)"), ["n": .of(number)])
        }
        let seen = Gathered(storage.snapshots(of: Query(in: "a").ordered(by: "n").limited(to: 2)))
        try await eventually("the first snapshot") { seen.last?.documents.map(\.id) == ["1", "2"] }
        try await storage.deleteDocument("a/1")
        try await eventually("the next in line") { seen.last?.documents.map(\.id) == ["2", "3"] }
    }

    @Test func `A write elsewhere wakes no listener`() async throws {
        let storage = storage
        let seen = Gathered(storage.snapshots(of: Query(in: "a")))
        try await eventually("the first snapshot") { seen.all.count == 1 }
        try await storage.setDocument("b/1", ["n": 1])
        try await storage.setDocument("a/1", ["n": 1])
        try await eventually("the change") { seen.last?.count == 1 }
        #expect(seen.all.count == 2)
    }

    @Test func `A stream that is left leaves nothing behind`() async throws {
        let storage = storage
        for try await _ in storage.snapshots(of: Query(in: "a")) { break }
        for try await _ in storage.snapshots(of: "a/1") { break }
        for try await _ in storage.pendingWrites() { break }
        try await eventually("no listener") { storage.listenerCount == 0 }
    }

    @Test func `Shutting down ends streams and refuses calls`() async throws {
        let storage = storage
        let seen = Gathered(storage.snapshots(of: Query(in: "a")))
        try await eventually("the first snapshot") { seen.all.count == 1 }
        await storage.shutDown()
        await storage.shutDown()
        try await eventually("the end") { (seen.error as? StorageError)?.code == .shutDown }
        await #expect(throws: StorageError.self) { try await storage.document("a/1") }
    }

    @Test func `A document that grows above the limit is refused and stays as it was`() async throws {
        let storage = storage
        let half = String(repeating: "x", count: 600_000)
        try await storage.setDocument("a/1", ["first": .of(half)])
        await #expect(throws: StorageError.self) {
            try await storage.mergeDocument("a/1", ["second": .of(half)]).acknowledged()
        }
        #expect(try await storage.document("a/1").data?.names == ["first"])
    }

    @Test func `Collections are listed below missing documents too`() async throws {
        let storage = storage
        try await storage.setDocument("users/alice/contacts/bob", ["n": 1])
        try await storage.setDocument("users/alice/deep/x/deeper/y", ["n": 1])
        #expect(try await storage.collections(under: nil) == ["users"])
        #expect(try await storage.collections(under: "users/alice") == ["users/alice/contacts", "users/alice/deep"])
        #expect(try await storage.collections(under: "users/alicex").isEmpty)
    }

    @Test func `A collection group below a document stays below it`() async throws {
        let storage = storage
        try await storage.setDocument("users/alice/posts/1", ["n": 1])
        try await storage.setDocument("users/bob/posts/2", ["n": 2])
        #expect(try await storage.count(Query(group: "posts")) == 2)
        let results = try await storage.documents(Query(group: "posts", under: "users/bob"))
        #expect(results.documents.map(\.id) == ["2"])
    }

    @Test func `What is not declared is refused by name`() async throws {
        let storage = MockStorageClient(backend, capabilities: StorageCapabilities())
        await #expect(throws: StorageError.self) { try await storage.documents(Query(group: "posts")) }
        do throws(StorageError) {
            _ = try await storage.makeTransaction()
            Issue.record("A transaction was begun.")
        } catch {
            #expect(error.code == .unsupported)
            #expect(error.message.contains("mock"))
        }
    }
}

import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSync

/// What becomes of unsent writes when the file that holds them is damaged.
@Suite(.timeLimit(.minutes(2))) struct SalvageTests {
    private let folder: TemporaryFolder
    private let server = ModelServer()
    private let log = EventLog()
    private static let filling = String(repeating: "x", count: 400)

    init() throws { folder = try TemporaryFolder(in: ScratchSpace.url) }

    private var file: URL { folder.file("store.sqlite") }

    private var notices: [String] { log.kinds.compactMap { if case .notice(let text) = $0 { text } else { nil } } }

    private func client(_ user: String = "alice") -> SyncedStorageClient {
        SyncedStorageClient(
            driver: ModelDriver(server), storage: .folder(folder.url), userID: user, clock: FastClock(), observer: log)
    }

    /// A store with a large cache and some queued writes.
    private func fill(writes: Int) throws -> [QueuedBatch] {
        let store = try SQLiteStore(folder: folder.url)
        let local = LocalStore(store: store, policy: .standard, owner: QueueOwner("alice"))
        try local.open()
        let documents = (0..<1000).map {
            CachedDocument.found(
                StoragePath("cached", "d\($0)"), ["text": .string(SalvageTests.filling)],
                version: Timestamp(microseconds: 9))
        }
        _ = try local.apply(RemoteEvent(version: Timestamp(microseconds: 9), documents: documents))
        let batches = try (0..<writes).map { number in
            let write = try DocumentWrite.set(
                StoragePath("rooms", "r\(number)"),
                data: ["text": .string("mark \(number) " + String(repeating: "y", count: 60))])
            return try local.write([write], as: "batch \(number)", at: Timestamp(microseconds: Int64(number))).0
        }
        _ = try local.changeOwner(to: QueueOwner("bob"))
        _ = try local.write([.set("rooms/bob", ["n": 1])], as: "bob's", at: Timestamp(microseconds: 5))
        store.close()
        return batches
    }

    /// Overwrites every page that contains one of `texts`, but the one through which the queue is found.
    private func overwritePages(with texts: [String]) throws {
        let root = try SQLiteConnection(path: file.path).number(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'batches'")
        var bytes = try Data(contentsOf: file)
        var count = 0
        for offset in stride(from: 4096, to: bytes.count, by: 4096) where offset / 4096 + 1 != root ?? 0 {
            let page = bytes[offset..<min(offset + 4096, bytes.count)]
            guard texts.contains(where: { page.range(of: Data($0.utf8)) != nil }) else { continue }
            bytes.replaceSubrange(page.startIndex..<page.endIndex, with: Data(repeating: 0xEE, count: page.count))
            count += 1
        }
        #expect(count > 0)
        try bytes.write(to: file)
    }

    /// Reads until the damage shows.
    private func noticeDamage() throws {
        let store = try SQLiteStore(folder: folder.url)
        #expect(throws: StorageError.self) {
            try store.transaction(.runQuery) { rows throws(StorageError) in
                try rows.forEachDocument(in: .collection("cached"), readAfter: nil, screen: nil) { _ in }
                _ = try rows.batches(of: QueueOwner("alice"), after: 0, limit: .max)
            }
        }
        store.close()
    }

    @Test func `Unsent writes on intact pages are read, announced, and can be queued again`() async throws {
        let batches = try fill(writes: 30)
        try overwritePages(with: [String(SalvageTests.filling.prefix(100))])
        try noticeDamage()
        let client = client()
        let aside = try #require(try await client.setAsideData())
        #expect(aside.reason == .damaged && aside.salvagedWrites == 31 && aside.isSalvageComplete)
        #expect(
            notices == [
                "The data kept on this device was damaged. It was set aside as “store.damaged-1.sqlite”. 31 unsent writes moved "
                    + "from its queue to the rejected writes: requeue or drop each of them."
            ])
        let salvaged = try await client.refusals
        #expect(salvaged.map(\.id) == batches.map(\.id))
        #expect(salvaged.map(\.batch.writes) == batches.map(\.writes))
        #expect(salvaged.allSatisfy { $0.error.code == .localStore && !$0.error.isRefusal })
        #expect(try await client.queue.isEmpty && server.documents.isEmpty)

        try await client.resolveRefusedWrite(salvaged[0].id, requeuing: salvaged[0].batch)
        try await client.resolveRefusedWrite(salvaged[1].id, requeuing: nil)
        try await client.waitForPendingWrites()
        #expect(server.documents.map(\.path) == ["rooms/r0"])
        #expect(try await client.refusals.count == 28)
        await client.setUser("bob")
        #expect(try await client.refusals.map(\.id) == ["bob's"])
        await client.shutDown()
        // They outlast the client, and are announced once.
        let again = self.client()
        #expect(try await again.refusals.count == 28)
        #expect(notices.count == 1)
        await again.shutDown()
    }

    @Test func `Of a queue that is damaged itself, what is on intact pages is read`() async throws {
        let batches = try fill(writes: 400)
        try overwritePages(with: ["mark 50 ", "mark 51 ", "mark 300 ", "mark 301 "])
        try noticeDamage()
        let client = client()
        let aside = try #require(try await client.setAsideData())
        #expect(!aside.isSalvageComplete)
        let ids = try await client.refusals.map(\.id)
        #expect(ids.count > 200 && ids.count < 400)
        #expect(aside.salvagedWrites == ids.count + 1)
        // Before, between and behind the damage, in order.
        #expect(ids.contains("batch 0") && ids.contains("batch 200") && ids.contains("batch 399"))
        #expect(ids == batches.map(\.id).filter(Set(ids).contains))
        #expect(notices.first?.hasSuffix("requeue or drop each of them. Others may be lost.") == true)
        await client.shutDown()
    }

    @Test func `A file of which nothing can be read is announced as that`() async throws {
        _ = try fill(writes: 3)
        let count = try Data(contentsOf: file).count
        try Data(repeating: 0x41, count: count).write(to: file)
        let client = client()
        let aside = try #require(try await client.setAsideData())
        #expect(aside.reason == .damaged && aside.salvagedWrites == 0 && !aside.isSalvageComplete)
        #expect(
            notices == [
                "The data kept on this device was damaged. It was set aside as “store.damaged-1.sqlite”. No queued write could be "
                    + "read from it; if there were any, they are lost."
            ])
        #expect(try await client.refusals.isEmpty)
        try await client.setDocument("rooms/new", ["n": 1]).acknowledged()
        await client.shutDown()
    }

    @Test func `A damaged file without a queue says so`() async throws {
        let store = try SQLiteStore(folder: folder.url)
        store.close()
        SQLiteStoreFiles(folder: folder.url).markDamaged()
        let client = client()
        #expect(try await client.setAsideData()?.isSalvageComplete == true)
        #expect(notices.first?.hasSuffix("No write was queued there.") == true)
        await client.shutDown()
    }

    @Test func `A write that had been sent takes effect once, though it is queued again`() async throws {
        let (driver, user) = (FailingDriver(server), "alice")
        func client() -> SyncedStorageClient {
            SyncedStorageClient(
                driver: driver, storage: .folder(folder.url), userID: user, clock: FastClock(), observer: log)
        }
        _ = try server.commit([.set("rooms/a", ["n": 1])])
        let before = client()
        driver.losesAnswer.withLock { $0 = true }
        driver.lookUpFailure.withLock { $0 = StorageError(.unavailable, "Not now.") }
        try await before.updateDocument("rooms/a", ["n": .increment(1)])
        try await eventually("it is carried out") { [server] in server.documents.first?["n"] == 2 }
        await before.shutDown()
        SQLiteStoreFiles(folder: folder.url).markDamaged()
        driver.lookUpFailure.withLock { $0 = nil }
        let after = client()
        let salvaged = try #require(try await after.refusals.first)
        try await after.resolveRefusedWrite(salvaged.id, requeuing: salvaged.batch)
        try await after.waitForPendingWrites()
        #expect(server.documents.first?["n"] == 2)
        await after.shutDown()
    }

    @Test func `A wipe that meets the damage keeps the queues of others, and nothing of the user's`() async throws {
        _ = try fill(writes: 5)
        try overwritePages(with: [String(SalvageTests.filling.prefix(100))])
        let store = try SQLiteStore(folder: folder.url)
        try store.wipe(of: QueueOwner("alice"))
        try store.transaction(.readQueue) { rows throws(StorageError) in
            #expect(try rows.batches(of: QueueOwner("alice"), after: 0, limit: .max).isEmpty)
            #expect(try rows.refusedBatches(of: QueueOwner("alice")).isEmpty)
            let queued = try rows.batches(of: QueueOwner("bob"), after: 0, limit: .max).map(\.id)
            #expect(try queued + rows.refusedBatches(of: QueueOwner("bob")).map(\.id) == ["bob's"])
        }
        store.close()
        for name in folder.names {
            let bytes = try Data(contentsOf: folder.file(name))
            #expect(bytes.range(of: Data("mark 1 ".utf8)) == nil, "\(name)")
        }
    }
}

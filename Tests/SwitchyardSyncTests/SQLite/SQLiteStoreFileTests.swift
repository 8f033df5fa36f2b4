import Foundation
import Switchyard
import Testing

@testable import SwitchyardSync

@Suite struct SQLiteStoreFileTests {
    private func fill(_ store: SQLiteStore, documents: Int = 1) throws {
        try store.transaction(.applyRemoteEvent) { rows throws(StorageError) in
            for number in 0..<documents {
                try rows.putDocument(
                    .found(
                        StoragePath(unchecked: "c/d\(number)"), ["text": .string(String(repeating: "x", count: 500))],
                        version: Timestamp(microseconds: 1)), replacing: nil)
            }
        }
    }

    private func document(in store: SQLiteStore) throws -> CachedDocument? {
        try store.transaction(.readDocuments) { rows throws(StorageError) in try rows.document(at: "c/d0") }
    }

    @Test func `A folder that cannot be made is named, with the system's reason`() throws {
        let folder = try TemporaryFolder()
        try Data().write(to: folder.file("taken"))
        let place = folder.file("taken").appendingPathComponent("store")
        let error = #expect(throws: StorageError.self) { try SQLiteStore(folder: place) }
        #expect(error?.code == .localStore)
        #expect(
            error?.message.contains("“\(place.path)” for data on this device cannot be created: Not a directory.")
                == true)
    }

    @Test func `A store belongs to one opener at a time`() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(folder: folder.url)
        let error = #expect(throws: StorageError.self) { try SQLiteStore(folder: folder.url) }
        #expect(error?.message.contains("another client uses “\(folder.url.path)”") == true)
        #expect(error?.code == .localStore)
        #expect(error?.message.contains("locked") == true)
        try fill(store)
        store.close()
        let again = try SQLiteStore(folder: folder.url)
        #expect(try document(in: again)?.data?.count == 1)
    }

    @Test func `A closed store refuses everything`() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(folder: folder.url)
        store.close()
        store.close()
        #expect(throws: StorageError.self) { try fill(store) }
        #expect(throws: StorageError.self) { try store.clear() }
    }

    @Test func `A file that is no database is set aside and kept`() throws {
        let folder = try TemporaryFolder()
        let rubbish = Data(repeating: 0x41, count: 10_000)
        try rubbish.write(to: folder.file("store.sqlite"))
        let store = try SQLiteStore(folder: folder.url)
        let setAside = try #require(store.setAside)
        #expect(setAside.reason == .damaged)
        #expect(try Data(contentsOf: setAside.location) == rubbish)
        try fill(store)
        #expect(try document(in: store) != nil)
        store.close()
        #expect(try SQLiteStore(folder: folder.url).setAside == nil)
    }

    @Test func `Somebody else's database is set aside and kept`() throws {
        let folder = try TemporaryFolder()
        let other = try SQLiteConnection(path: folder.file("store.sqlite").path)
        try other.run("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (7)")
        withExtendedLifetime(other) {}
        let store = try SQLiteStore(folder: folder.url)
        #expect(store.setAside?.reason == .foreign)
    }

    @Test func `Damage that shows up later is reported, and the next opening sets the file aside`() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(folder: folder.url)
        try fill(store, documents: 2000)
        store.close()
        // Everything behind the first pages becomes nonsense.
        let file = folder.file("store.sqlite")
        var bytes = try Data(contentsOf: file)
        #expect(bytes.count > 400_000)
        for offset in stride(from: 40_960, to: bytes.count, by: 4096) {
            bytes.replaceSubrange(offset..<(offset + 512), with: Data(repeating: 0xEE, count: 512))
        }
        try bytes.write(to: file)
        let damaged = try SQLiteStore(folder: folder.url)
        #expect(damaged.setAside == nil)
        let error = #expect(throws: StorageError.self) {
            try damaged.transaction(.runQuery) { rows throws(StorageError) in
                try rows.forEachDocument(in: .collection("c"), readAfter: nil, screen: nil) { _ in }
            }
        }
        #expect(error?.code == .localStore)
        damaged.close()
        let fresh = try SQLiteStore(folder: folder.url)
        #expect(fresh.setAside?.reason == .damaged)
        #expect(try Data(contentsOf: #require(fresh.setAside?.location)).count == bytes.count)
        #expect(try document(in: fresh) == nil)
        fresh.close()
        #expect(try SQLiteStore(folder: folder.url).setAside == nil)
    }

    private static let nextStep = """
        ALTER TABLE documents ADD COLUMN note TEXT NOT NULL DEFAULT 'old';
        CREATE TABLE extra (a INTEGER PRIMARY KEY);
        """

    @Test func `An older store is brought up to date with its data`() throws {
        let folder = try TemporaryFolder()
        let old = try SQLiteStore(folder: folder.url)
        try fill(old)
        old.close()
        let next = SQLiteSchema(steps: SQLiteSchema.current.steps + [SQLiteStoreFileTests.nextStep])
        let migrated = try SQLiteStore(folder: folder.url, schema: next)
        #expect(migrated.setAside == nil)
        #expect(try document(in: migrated) != nil)
        try fill(migrated)
        migrated.close()
        let connection = try SQLiteConnection(path: folder.file("store.sqlite").path)
        #expect(try connection.number("PRAGMA user_version") == next.version)
        #expect(try connection.number("SELECT count(*) FROM documents WHERE note = 'old'") == 1)
    }

    /// As versions before names wrote it: a batch without documents that wait for names, and no addition.
    private func makeOldStore(in folder: TemporaryFolder, with queued: QueuedBatch) throws {
        let old = SQLiteSchema(steps: Array(SQLiteSchema.current.steps.prefix(2)))
        try SQLiteStore(folder: folder.url, schema: old).close()
        let connection = try SQLiteConnection(path: folder.file("store.sqlite").path)
        var batch = RecordWriter()
        batch.write(queued)
        let bytes = Array(batch.bytes.dropLast(2))
        try connection.statement("INSERT INTO batches VALUES ('', 2, ?, '')").bind(bytes).run()
        try connection.statement("INSERT INTO batch_paths VALUES ('todos/a', '', 2)").run()
    }

    @Test func `A store from before names keeps its queue`() throws {
        let folder = try TemporaryFolder()
        let queued = QueuedBatch(
            number: 2, id: "b2", writes: [try .set("todos/a", ["n": 2])], queuedAt: Timestamp(microseconds: 5))
        try makeOldStore(in: folder, with: queued)
        let store = try SQLiteStore(folder: folder.url)
        #expect(store.setAside == nil)
        let owner = QueueOwner(nil)
        try store.transaction(.writeLocally) { rows throws(StorageError) in
            #expect(try rows.batches(of: owner, after: 0, limit: 9) == [queued])
            #expect(try rows.name(of: "tasks/-1", for: owner) == nil)
            try rows.putName("tasks/41", of: "tasks/-1", for: owner)
            #expect(try rows.name(of: "tasks/-1", for: owner) == "tasks/41")
        }
        #expect(try TestBench(over: store).sent.map(\.id) == ["b2"])
    }

    @Test func `A step that fails leaves the store as it was`() throws {
        let folder = try TemporaryFolder()
        let old = try SQLiteStore(folder: folder.url)
        try fill(old)
        old.close()
        let broken = SQLiteSchema(steps: SQLiteSchema.current.steps + ["CREATE TABLE extra (a); DROP TABLE missing"])
        #expect(throws: StorageError.self) { try SQLiteStore(folder: folder.url, schema: broken) }
        let again = try SQLiteStore(folder: folder.url)
        #expect(again.setAside == nil)
        #expect(try document(in: again) != nil)
    }

    @Test func `A store from a later version is set aside, and one by one they are kept`() throws {
        let folder = try TemporaryFolder()
        let next = SQLiteSchema(steps: SQLiteSchema.current.steps + [SQLiteStoreFileTests.nextStep])
        for round in 1...2 {
            let newer = try SQLiteStore(folder: folder.url, schema: next)
            try fill(newer)
            newer.close()
            let store = try SQLiteStore(folder: folder.url)
            let setAside = try #require(store.setAside)
            #expect(setAside.reason == .newer)
            #expect(setAside.location.lastPathComponent == "store.newer-\(round).sqlite")
            #expect(try document(in: store) == nil)
            store.close()
            let kept = try SQLiteConnection(path: setAside.location.path)
            #expect(try kept.number("SELECT count(*) FROM documents") == 1)
            try FileManager.default.removeItem(at: folder.file("store.sqlite"))
        }
        #expect(folder.names.count { $0.hasSuffix(".sqlite") } == 2)
    }

    @Test func `Forgetting everything leaves nothing in the file`() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(folder: folder.url)
        try fill(store, documents: 2000)
        try store.clear()
        #expect(try document(in: store) == nil)
        store.close()
        let bytes = try Data(contentsOf: folder.file("store.sqlite"))
        #expect(bytes.count < 200_000)
        #expect(bytes.range(of: Data("xxxxxxxx".utf8)) == nil)
    }

    /// Runs `body` while cleaning up fails, as on a full disk.
    private func withoutCleaningUp(_ store: SQLiteStore, _ body: () throws -> Void) throws {
        var result: Result<Void, any Error>?
        // SQLite refuses to clean up while a statement is being read.
        try store.rows?.connection.statement("SELECT name FROM globals").rows { _ in
            if result == nil { result = Result(catching: body) }
        }
        try result?.get()
    }

    @Test func `A wipe is done though cleaning up after it fails, and that is made up for`() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(folder: folder.url)
        let owner = QueueOwner("alice")
        let local = LocalStore(store: store, policy: .standard, owner: owner)
        try local.open()
        try fill(store, documents: 2000)
        _ = try local.write([.set("c/d0", ["text": "xxxxxxxxxxxx"])], as: "b1", at: Timestamp(microseconds: 1))
        try withoutCleaningUp(store) { try store.wipe(of: owner) }
        #expect(try document(in: store) == nil)
        try store.transaction(.readQueue) { rows throws(StorageError) in
            #expect(try rows.batches(of: owner, after: 0, limit: .max).isEmpty)
            #expect(try rows.globals.lastUserID == nil)
        }
        #expect(store.rows?.hasRemains == true)
        // The collector comes by every few minutes.
        try store.transaction(.collectGarbage) { _ in }
        #expect(store.rows?.hasRemains == false)
        store.close()
        let bytes = try Data(contentsOf: folder.file("store.sqlite"))
        #expect(bytes.range(of: Data("xxxxxxxx".utf8)) == nil)
    }

    @Test func `Cleaning up that has failed is repeated when the store is opened`() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(folder: folder.url)
        try fill(store, documents: 2000)
        try withoutCleaningUp(store) { try store.clear() }
        store.close()
        let again = try SQLiteStore(folder: folder.url)
        #expect(again.rows?.hasRemains == false)
        again.close()
        let bytes = try Data(contentsOf: folder.file("store.sqlite"))
        #expect(bytes.range(of: Data("xxxxxxxx".utf8)) == nil)
        #expect(bytes.count < 200_000)
    }

    @Test func `A nested walk over the same rows is no problem`() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(folder: folder.url)
        try fill(store, documents: 20)
        var pairs = 0
        try store.transaction(.runQuery) { rows throws(StorageError) in
            try rows.forEachDocument(in: .collection("c"), readAfter: nil, screen: nil) { _ throws(StorageError) in
                try rows.forEachDocument(in: .collection("c"), readAfter: nil, screen: nil) { _ in pairs += 1 }
            }
        }
        #expect(pairs == 400)
    }

    @Test func `What is kept outlasts a failure of power where a plain synchronisation would not do`() throws {
        let folder = try TemporaryFolder()
        let connection = try SQLiteStore.connect(folder.file("store.sqlite"))
        for name in ["fullfsync", "checkpoint_fullfsync"] {
            #expect(try connection.number("PRAGMA \(name)") == 1, "\(name)")
        }
    }

    @Test func `No one but the user may read the store`() throws {
        let parent = try TemporaryFolder()
        let folder = parent.file("state/documents")
        func mode(_ url: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        }
        func check() throws {
            #expect(try mode(folder) == 0o700)
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                #expect(try mode(folder.appendingPathComponent(name)) == 0o600, "\(name)")
            }
        }
        let store = try SQLiteStore(folder: folder)
        try fill(store)
        try check()
        store.close()

        // As an earlier version left it.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        let database = folder.appendingPathComponent("store.sqlite")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: database.path)
        let again = try SQLiteStore(folder: folder)
        try fill(again, documents: 2)
        try check()
        again.close()
    }
}

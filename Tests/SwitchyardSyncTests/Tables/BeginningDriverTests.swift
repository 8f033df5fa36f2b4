import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSync

/// The version after which a driver counts on.
@Suite struct BeginningDriverTests {
    private final class CountingDriver: ForwardingDriver {
        let base: ModelDriver
        let begun = Mutex<[Timestamp]>([])

        init(_ server: ModelServer) { base = ModelDriver(server, clock: FastClock()) }

        func begin(after version: Timestamp) { begun.withLock { $0.append(version) } }
    }

    private func client(_ driver: CountingDriver, in folder: URL) -> SyncedStorageClient {
        SyncedStorageClient(driver: driver, storage: .folder(folder), clock: FastClock())
    }

    @Test func `A driver learns once, and first, which version the store has seen`() async throws {
        let folder = try TemporaryFolder()
        let server = ModelServer()
        let driver = CountingDriver(server)
        let first = client(driver, in: folder.url)
        let receipt = try await first.setDocument("todos/a", ["n": 1])
        let acknowledged = try await receipt.acknowledged()
        _ = try await first.document("todos/a")
        #expect(driver.begun.withLock { $0 } == [.never])
        await first.shutDown()

        let second = client(driver, in: folder.url)
        _ = try await second.document("todos/a", from: .cache)
        try await second.wipe()
        _ = try await second.document("todos/a")
        #expect(driver.begun.withLock { $0 } == [.never, acknowledged.commitTime])
        await second.shutDown()
    }

    @Test func `A transaction does not come before it either`() async throws {
        let folder = try TemporaryFolder()
        let driver = CountingDriver(ModelServer())
        let client = client(driver, in: folder.url)
        _ = try? await client.makeTransaction()
        #expect(driver.begun.withLock { $0 } == [.never])
        await client.shutDown()
    }

    /// As versions before tags wrote it.
    private func makeOldStore(in folder: TemporaryFolder) throws {
        let old = SQLiteSchema(steps: Array(SQLiteSchema.current.steps.prefix(1)))
        try SQLiteStore(folder: folder.url, schema: old).close()
        let connection = try SQLiteConnection(path: folder.file("store.sqlite").path)
        let version = Timestamp(microseconds: 5_000_000)
        var (document, globals, batch, target) = (RecordWriter(), RecordWriter(), RecordWriter(), RecordWriter())
        document.write(CachedDocument.found("todos/a", ["n": 1], version: version))
        globals.write(version)
        for _ in 0..<3 { globals.write(Int64(2)) }
        globals.write("")
        batch.write(QueuedBatch(number: 2, id: "b2", writes: [try .set("todos/a", ["n": 2])], queuedAt: version))
        target.write(LiveQuery.query(Query(in: "todos")).target)
        var record = RecordWriter()
        record.write(Int64(1))
        record.write([UInt8]())
        record.write(version)
        record.write(version)
        try connection.statement("INSERT INTO documents VALUES ('todos', 'a', 0, 9, ?)").bind(document.bytes).run()
        try connection.statement("INSERT INTO globals VALUES ('engine', ?)").bind(globals.bytes).run()
        try connection.statement("INSERT INTO batches VALUES ('', 2, ?)").bind(
            // Without what later versions added.
            Array(batch.bytes.dropLast(2))
        ).run()
        try connection.statement("INSERT INTO targets VALUES (2, ?, ?)").bind(target.bytes).bind(record.bytes).run()
        try connection.statement("INSERT INTO confirmed VALUES (2, 'todos/a')").run()
    }

    @Test func `A store from before tags keeps everything`() throws {
        let folder = try TemporaryFolder()
        try makeOldStore(in: folder)
        let store = try SQLiteStore(folder: folder.url)
        #expect(store.setAside == nil)
        try store.transaction(.readDocuments) { rows throws(StorageError) in
            let globals = try rows.globals
            #expect(globals.highestVersion == globals.lastSnapshotVersion && globals.highestVersion != .never)
            #expect(try rows.document(at: "todos/a")?.data == ["n": 1])
            #expect(try rows.document(at: "todos/a")?.tag == nil)
            #expect(try rows.targets().map(\.isDecided) == [false])
            #expect(try rows.confirmedKeys(of: 2) == ["todos/a"])
            #expect(try rows.batches(of: QueueOwner(nil), after: 0, limit: 9).map(\.bases) == [nil])
        }
        let bench = try TestBench(over: store, usesTags: true)
        #expect(bench.machine.highestVersion == Timestamp(microseconds: 5_000_000))
    }
}

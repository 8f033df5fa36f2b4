import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSync

/// A folder that comes back as it once was: out of a backup, a snapshot of a machine, or a copy.
@Suite(.timeLimit(.minutes(2))) struct RestoredFolderTests {
    private let server = ModelServer()

    private func restore(_ backup: TemporaryFolder, to folder: TemporaryFolder) throws {
        for name in folder.names { try FileManager.default.removeItem(at: folder.file(name)) }
        for name in backup.names { try FileManager.default.copyItem(at: backup.file(name), to: folder.file(name)) }
    }

    @Test func `What is written after the restoration is no batch that the server has had`() async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let backup = try TemporaryFolder(in: ScratchSpace.url)
        let first = device(server, .folder(folder.url))
        try await first.setDocument("a/first", ["n": 1]).acknowledged()
        await first.shutDown()
        try restore(folder, to: backup)

        let second = device(server, .folder(folder.url))
        try await second.setDocument("a/b", ["n": 1]).acknowledged()
        await second.shutDown()
        try restore(backup, to: folder)

        let third = device(server, .folder(folder.url))
        try await third.setDocument("a/b", ["n": 2]).acknowledged()
        #expect(server.documents.first { $0.path == "a/b" }?["n"] == 2)
        await third.shutDown()
    }

    @Test func `A queue that was restored is sent under the names that it had`() async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let backup = try TemporaryFolder(in: ScratchSpace.url)
        let first = device(server, .folder(folder.url))
        try await first.disableNetwork()
        try await first.mergeDocument("a/b", ["n": .increment(1)])
        let names = try await first.queue.map(\.id)
        await first.shutDown()
        try restore(folder, to: backup)

        for _ in 1...2 {
            let client = device(server, .folder(folder.url))
            #expect(try await client.pendingWrites().newest.map(\.id) == names || server.documents.count == 1)
            try await client.waitForPendingWrites()
            await client.shutDown()
            try restore(backup, to: folder)
        }
        #expect(server.documents.map { $0["n"] } == [1])
    }

    @Test func `Batches that an earlier version named keep their names`() async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let store = try SQLiteStore(folder: folder.url)
        try store.transaction(.writeLocally) { rows throws(StorageError) in
            var globals = StoreGlobals()
            globals.highestBatchNumber = 7
            try rows.setGlobals(globals)
            let write = try DocumentWrite.merge("a/b", ["n": .increment(1)])
            try rows.putBatch(
                QueuedBatch(number: 7, id: "store-7", writes: [write], queuedAt: Timestamp(microseconds: 1)),
                of: QueueOwner(nil))
        }
        store.close()
        // It took effect, and this device does not know.
        _ = try server.commit([.merge("a/b", ["n": .increment(1)])], id: "store-7")

        let client = device(server, .folder(folder.url))
        let later = try await client.mergeDocument("a/b", ["n": .increment(1)])
        #expect(later.batchID != "store-8")
        try await later.acknowledged()
        #expect(server.documents.map { $0["n"] } == [2])
        await client.shutDown()
    }
}

import Foundation
import Switchyard
import SwitchyardServerKit
import SwitchyardTestSupport
import Testing

/// Several processes of one app on one state folder: each has documents of its own, and streams learn of what the others write.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), .timeLimit(.minutes(2)))
struct SharedFolderTests {
    /// Without this, a write of another process is seen at the next check, after ten minutes.
    private static func device(_ process: String?) async throws -> TablesSite.Device {
        var device = TablesSite.Device(try await TablesSite.shared.value, UUID().uuidString.lowercased())
        device.checkInterval = 600
        device.process = process
        return device
    }

    private static func folder() -> URL {
        ScratchSpace.url.appendingPathComponent("shared-\(UInt64.random(in: 0 ... .max))", isDirectory: true)
    }

    @Test func `A stream shows what another process has written`() async throws {
        let folder = Self.folder()
        let app = try await Self.device("main")
        let storage = try await app.storage(TablesSite.mappings, stateFolder: folder)
        var rows = storage.snapshots(of: Query(in: "todos")).makeAsyncIterator()
        while let seen = try await rows.next(), seen.metadata.isFromCache {}

        var widget = app
        widget.process = "widget"
        _ = await onSpareThreads {
            await #expect(processExitsWith: .success) {
                [widget = widget as TablesSite.Device, path = folder.path as String] in
                let storage = try await widget.storage(
                    TablesSite.mappings, stateFolder: URL(fileURLWithPath: path, isDirectory: true))
                try await storage.setDocument(
                    StoragePath(validating: "todos/\(UUID().uuidString.lowercased())"),
                    ["title": "from the widget", "n": 0]
                ).acknowledged()
                await storage.shutDown()
            }
        }
        let seen = try #require(try await rows.next())
        #expect(seen.documents.map { $0["title"] } == ["from the widget"])
        await storage.shutDown()
    }

    @Test func `What one process changes in a transaction reaches the others`() async throws {
        let folder = Self.folder()
        let app = try await Self.device("main")
        let storage = try await app.storage(TablesSite.mappings, stateFolder: folder)
        let path = try StoragePath(validating: "todos/\(UUID().uuidString.lowercased())")
        try await storage.setDocument(path, ["title": "mine", "n": 0]).acknowledged()
        var documents = storage.snapshots(of: path).makeAsyncIterator()
        while let seen = try await documents.next(), seen.metadata.isFromCache || seen.metadata.hasPendingWrites {}

        var other = app
        other.process = "second-tool"
        let second = try await other.storage(TablesSite.mappings, stateFolder: folder)
        try await second.transaction { transaction in
            let document = try await transaction.document(path)
            try await transaction.update(path, ["n": .of((document["n"]?.integerValue ?? 0) + 1)])
        }
        while let seen = try await documents.next(), seen["n"] != 1 {}
        await second.shutDown()
        await storage.shutDown()
    }

    @Test func `Unsent writes of a process stay its own, and a folder without processes is locked as before`()
        async throws
    {
        let folder = Self.folder()
        let app = try await Self.device("main")
        var widget = app
        widget.process = "widget"
        let storage = try await app.storage(TablesSite.mappings, stateFolder: folder)
        let other = try await widget.storage(TablesSite.mappings, stateFolder: folder)
        try await other.disableNetwork()
        let path = try StoragePath(validating: "todos/\(UUID().uuidString.lowercased())")
        try await other.setDocument(path, ["title": "later", "n": 0])
        #expect(await storage.unsentWrites?.count == 0)
        #expect(await other.unsentWrites?.count == 1)

        var alone = app
        alone.process = nil
        let error = await #expect(throws: InfrastructureError.self) {
            try await alone.storage(TablesSite.mappings, stateFolder: folder)
        }
        #expect(error?.code == .locked)
        await other.shutDown()
        let again = try await widget.storage(TablesSite.mappings, stateFolder: folder)
        try await again.waitForPendingWrites()
        #expect(try await storage.document(path)["title"] == "later")
        await again.shutDown()
        await storage.shutDown()
    }

    @Test func `A process whose name is no folder's is refused`() async throws {
        let folder = Self.folder()
        let device = try await Self.device("../up")
        let error = await #expect(throws: InfrastructureError.self) {
            try await device.storage(TablesSite.mappings, stateFolder: folder)
        }
        #expect(error?.code == .invalidConfiguration)
    }
}

import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardFirebase
import SwitchyardSync
import SwitchyardTestSupport
import Testing

/// A state folder of an earlier version: an account, two documents that the server has, and two writes that it does not have.
///
/// A client of a local server at this address wrote it. The server does not run here.
@Suite(.serialized) struct SavedStateTests {
    private static let address = "127.0.0.1:39417"
    private static let saved = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("SavedState", isDirectory: true)
    private let folder = ScratchSpace.url.appendingPathComponent("saved-\(UInt64.random(in: 0 ... .max))")

    init() throws { try FileManager.default.copyItem(at: Self.saved, to: folder) }

    private func app() async throws -> Infrastructure {
        var configuration = FirebaseConfiguration(
            project: "demo-switchyard", apiKey: "any", usesEmulatorVariables: false)
        configuration.emulators = FirebaseConfiguration.Emulators(
            firestore: Self.address, auth: Self.address, storage: Self.address)
        var selection = InfrastructureSelection(default: .firebase)
        selection.omit(.files)
        selection.omit(.messaging)
        return try await InfrastructureFactory(FirebaseModule(configuration)).make(
            selection, in: InfrastructureOptions(stateFolder: folder))
    }

    @Test func `The session, the cache and the unsent writes of an earlier version are there`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = try await app()
        #expect(await app.auth.currentUser?.email == "ada@example.com")
        let shelves = try await app.storage.documents(Query(in: "shelves"), from: .cache)
        #expect(shelves.documents.map(\.id) == ["1", "2", "3"])
        #expect(shelves.documents.map { $0["boxes"] } == [13, 7, nil])
        #expect(shelves.documents.map(\.metadata.hasPendingWrites) == [true, false, true])
        let unsent = try #require(await app.storage.unsentWrites)
        #expect(unsent.count == 2)
        await app.shutDown()
    }

    @Test func `The unsent writes of an earlier version reach a server`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = try await app()
        let user = try #require(await app.auth.currentUser)
        await app.shutDown()

        let server = ModelServer()
        let place = try #require(
            FileManager.default.contentsOfDirectory(
                at: folder.appendingPathComponent("firebase"), includingPropertiesForKeys: nil
            )
            .first { $0.lastPathComponent.hasPrefix("documents") })
        let storage = SyncedStorageClient(driver: ModelDriver(server), storage: .folder(place), userID: user.id)
        try await storage.waitForPendingWrites()
        let other = SyncedStorageClient(driver: ModelDriver(server))
        #expect(try await other.document("shelves/3")["label"] == "new")
        await storage.shutDown()
        await other.shutDown()
    }
}

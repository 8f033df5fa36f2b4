import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// Where documents are stored when more than one database is used from one state folder.
@Suite struct FirestoreFolderTests {
    private let state = ScratchSpace.url.appendingPathComponent("firestore-\(UInt64.random(in: 0 ... .max))")

    private func storage(
        _ project: String, database: String = "(default)", emulator: String? = nil
    ) async throws -> any StorageClient {
        let module = module(project, database: database, emulator: emulator)
        let storage = try await module.makeStorageClient(ModuleContext(stateFolder: state))
        try await storage.disableNetwork()
        return storage
    }

    private func module(_ project: String, database: String = "(default)", emulator: String? = nil) -> FirebaseModule {
        var configuration = FirebaseConfiguration(
            project: project, apiKey: "key", database: database, usesEmulatorVariables: false)
        configuration.emulators.firestore = emulator
        return FirebaseModule(configuration, environment: [:]) { ScriptedTransport([]) }
    }

    private func queue(_ storage: any StorageClient) async throws -> [String]? {
        try await storage.pendingWrites().first { _ in true }?.map(\.id)
    }

    @Test func `What is queued for one database is not another's`() async throws {
        defer { try? FileManager.default.removeItem(at: state) }
        let first = try await storage("one")
        let receipt = try await first.setDocument("a/b", ["n": 1])
        await first.shutDown()
        for (project, database, emulator) in [
            ("two", "(default)", nil), ("one", "other", nil), ("one", "(default)", "localhost:8080"),
        ] {
            let other = try await storage(project, database: database, emulator: emulator)
            #expect(try await queue(other) == [])
            await #expect(throws: StorageError.self) { try await other.document("a/b", from: .cache) }
            await other.shutDown()
        }
        let again = try await storage("one")
        #expect(try await queue(again) == [receipt.batchID])
        await again.shutDown()
    }

    @Test func `What an earlier version stored is taken over, by one database on real servers`() async throws {
        defer { try? FileManager.default.removeItem(at: state) }
        let old = SyncedStorageClient(
            driver: ModelDriver(ModelServer()), storage: .folder(state.appendingPathComponent("documents")))
        try await old.disableNetwork()
        let receipt = try await old.setDocument("a/b", ["n": 1])
        await old.shutDown()
        for (project, emulator, names) in [
            ("one", "localhost:8080", []), ("one", nil, [receipt.batchID]), ("two", nil, []),
            ("one", nil, [receipt.batchID]),
        ] {
            let storage = try await storage(project, emulator: emulator)
            #expect(try await queue(storage) == names)
            await storage.shutDown()
        }
    }

    @Test func `A request to wipe that finds no client takes that user's documents from their folder`() async throws {
        defer { try? FileManager.default.removeItem(at: state) }
        let first = try await storage("one")
        let receipt = try await first.setDocument("a/b", ["n": 1])
        await first.shutDown()
        try await module("one").wipeLocalData(of: "alice", ModuleContext(stateFolder: state))
        let again = try await storage("one")
        // No one's, and so not hers.
        #expect(try await queue(again) == [receipt.batchID])
        await #expect(throws: InfrastructureError.self) {
            try await module("one").wipeLocalData(of: "alice", ModuleContext(stateFolder: state))
        }
        await again.shutDown()
    }
}

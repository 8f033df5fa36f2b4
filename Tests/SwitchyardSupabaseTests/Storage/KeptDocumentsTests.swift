import Foundation
import Switchyard
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// What a project's storage stores on the device while it is not selected.
@Suite struct KeptDocumentsTests {
    private let state = ScratchSpace.url.appendingPathComponent("supabase-\(UInt64.random(in: 0 ... .max))")
    private let module = SupabaseModule(
        SupabaseConfiguration(
            url: "https://demo.supabase.co", key: "sb_publishable_key", realtime: SupabaseRealtime(mode: .off))
    ) { ScriptedTransport([]) }

    private func storage(of user: String) async throws -> any StorageClient {
        let auth = FixedAuthClient(user: user) { _ throws(AuthError) in throw AuthError(.unavailable, "No token.") }
        let storage = try await module.makeStorageClient(ModuleContext(auth: auth, stateFolder: state))
        try await storage.disableNetwork()
        return storage
    }

    @Test func `A request to wipe that finds no client takes that user's documents from their folder`() async throws {
        defer { try? FileManager.default.removeItem(at: state) }
        for user in ["alice", "bob"] {
            let storage = try await storage(of: user)
            try await storage.setDocument("a/b", ["n": 1])
            await storage.shutDown()
        }
        try await module.wipeLocalData(of: "alice", ModuleContext(stateFolder: state))
        for (user, count) in [("alice", 0), ("bob", 1)] {
            let storage = try await storage(of: user)
            #expect(try await storage.pendingWrites().first { _ in true }?.count == count)
            await storage.shutDown()
        }
    }

    @Test func `There is nothing to wipe where nothing was stored`() async throws {
        try await module.wipeLocalData(of: "alice", ModuleContext(stateFolder: state))
        try await module.wipeLocalData(of: "alice", ModuleContext())
        #expect(!FileManager.default.fileExists(atPath: state.path))
    }
}

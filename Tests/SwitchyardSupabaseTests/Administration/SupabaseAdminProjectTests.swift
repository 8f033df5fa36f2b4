import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// What acts for the project itself.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SupabaseAdminProjectTests {
    @Test func `The project may do what its rules keep from callers, lists collections and deletes trees`() async throws
    {
        let site = try await SupabaseSite.shared.value
        var configuration = SupabaseConfiguration(url: site.supabase.server.url, key: Secret(site.supabase.anonKey))
        configuration.serviceKey = Secret(site.supabase.serviceKey)
        let backend = try await Infrastructure(.supabase(configuration))
        let project = try await backend.actingAsProject().storage
        let owner = "owner-\(RandomID.make())"
        let caller = try await backend.acting(
            as: VerifiedToken(
                token: Secret(site.supabase.accessToken(for: "other")), provider: .supabase, userID: "other",
                issuer: "test", expiresAt: Date(timeIntervalSinceNow: 3600)))
        let root = try StoragePath(validating: "users/\(owner)")
        let note = try StoragePath(validating: "users/\(owner)/notes/a")
        try await project.setDocument(root, ["name": "Owner"])
        try await project.setDocument(note, ["owner": .of(owner), "n": 1])
        #expect(try await project.document(note, from: .server)["n"] == 1)
        #expect(try await caller.storage.document(note, from: .server).exists == false)
        await #expect(throws: StorageError.self) { try await caller.storage.setDocument(note, ["n": 2]) }
        #expect(try await project.document(note, from: .server)["n"] == 1)

        let notes = try CollectionPath(validating: "users/\(owner)/notes")
        #expect(try await project.documents(Query(in: notes)).documents.map(\.path) == [note])
        #expect(try await project.collections(under: root) == [notes])
        #expect(try await project.deleteRecursively(root) == 2)
        #expect(try await project.document(note, from: .server).exists == false)
        #expect(try await project.document(root, from: .server).exists == false)
        await backend.shutDown()
    }
}

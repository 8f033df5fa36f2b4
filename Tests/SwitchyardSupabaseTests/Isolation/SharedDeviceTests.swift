import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// Two people who sign in on one device, one after the other, and ask the same.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SharedDeviceTests {
    /// What the server has confirmed at last, as names of documents.
    private func confirmed(
        _ storage: any StorageClient, _ query: Query, until isDone: ([String]) -> Bool
    ) async throws -> [String] {
        let options = ListenOptions(includesMetadataChanges: true)
        for try await snapshot in storage.snapshots(of: query, options: options)
        where !snapshot.metadata.isFromCache {
            let names = snapshot.documents.map(\.id)
            if isDone(names) { return names }
        }
        return []
    }

    @Test(.timeLimit(.minutes(1)))
    func `Whoever listens after somebody else is shown their own, also where both have as much`() async throws {
        let site = try await IsolationSite.shared.value
        let module = IsolationSite.module(site.supabase)
        let auth = try await module.makeAuthClient(ModuleContext())
        let storage = try await module.makeStorageClient(ModuleContext(auth: auth))
        let name = RandomID.make(length: 8).lowercased()
        let notes = try CollectionPath(validating: "notes-\(name)")
        for person in ["ben", "ann"] {
            try await auth.signUp(email: "\(person)-\(name)@example.com", password: "secret")
            try await storage.setDocument(notes.document(person), ["text": "mine"]).acknowledged()
        }
        let query = Query(in: notes)
        #expect(try await confirmed(storage, query) { !$0.isEmpty } == ["ann"])
        try await auth.signIn(email: "ben-\(name)@example.com", password: "secret")
        // The first word of the server counts, not a later one.
        #expect(try await confirmed(storage, query) { _ in true } == ["ben"])
        try await auth.signIn(email: "ann-\(name)@example.com", password: "secret")
        #expect(try await confirmed(storage, query) { _ in true } == ["ann"])
        await storage.shutDown()
        await auth.shutDown()
    }
}

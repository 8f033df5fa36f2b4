import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// What becomes of a screen when the server ends the session.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct EndedSessionTests {
    /// What a stream has shown and how it ended.
    private final class Screen: Sendable {
        private struct State {
            var shown: QuerySnapshot?
            var end: StorageError?
        }
        private let state = Mutex(State())

        init(_ storage: any StorageClient, _ query: Query) {
            let options = ListenOptions(includesMetadataChanges: true)
            Task {
                do throws(StorageError) {
                    for try await snapshot in storage.snapshots(of: query, options: options) {
                        state.withLock { $0.shown = snapshot }
                    }
                } catch {
                    state.withLock { $0.end = error }
                }
            }
        }

        var shown: QuerySnapshot? { state.withLock { $0.shown } }
        var end: StorageError? { state.withLock { $0.end } }
    }

    @Test(arguments: [true, false])
    func `A revoked session keeps the screen and the writes for its user; a barred account ends the screen`(
        _ isBarred: Bool
    ) async throws {
        let site = try await IsolationSite.shared.value
        let module = IsolationSite.module(site.supabase)
        let auth = try await module.makeAuthClient(ModuleContext())
        let storage = try await module.makeStorageClient(ModuleContext(auth: auth))
        let name = RandomID.make(length: 8).lowercased()
        let note = try CollectionPath(validating: "notes-\(name)").document("a")
        try await auth.signUp(email: "\(name)@example.com", password: "secret")
        let user = try #require(await auth.currentUser)
        try await storage.setDocument(note, ["n": 1]).acknowledged()
        let screen = Screen(storage, Query(in: note.collection))
        try await eventually("it is shown") { screen.shown?.metadata.isFromCache == false }
        try await storage.disableNetwork()
        try await storage.updateDocument(note, ["n": 2])
        let sql =
            isBarred
            ? "update auth.users set banned_until = '2999-01-01' where id = $1::uuid"
            : "delete from auth.sessions where user_id = $1::uuid"
        _ = try await site.supabase.database.run([PostgresStatement(sql, [user.id])])
        await #expect(throws: AuthError.self) { try await auth.accessToken(refreshing: true) }
        try await storage.enableNetwork()

        if isBarred {
            try await eventually("the stream ends") { screen.end != nil }
            #expect(screen.end?.code == .unauthenticated && screen.end?.isRetryable == false)
            #expect(screen.end?.message.contains("The server has ended the session") == true)
            // No one's write is refused, and the user's stays.
            let late = try await storage.updateDocument(note, ["n": 3])
            await #expect(throws: StorageError.self) { try await late.acknowledged() }
        } else {
            try await eventually("the reason is shown") {
                screen.shown?.metadata.serverError?.message.contains("session has expired") == true
            }
            #expect(screen.end == nil)
            #expect(screen.shown?.documents.first?["n"] == 2)
            try await storage.updateDocument(note, ["n": 3])
        }
        _ = try await site.supabase.database.run([
            PostgresStatement("update auth.users set banned_until = null where id = $1::uuid", [user.id])
        ])
        try await auth.signIn(email: "\(name)@example.com", password: "secret")
        try await storage.waitForPendingWrites()
        #expect(try await storage.document(note, from: .server)["n"] == (isBarred ? 2 : 3))
        await storage.shutDown()
        await auth.shutDown()
    }
}

import Foundation
import Switchyard
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSync

/// A storage that follows who is signed in.
@Suite(.timeLimit(.minutes(2))) struct UserStorageTests {
    /// Somebody whose comings and goings a test decides; the stream of states tells of them late, or never.
    private final class SilentAuthClient: AuthClient {
        let provider: InfrastructureProvider = "silent"
        let capabilities = AuthCapabilities()
        private let present: Mutex<AuthState>

        init(_ state: AuthState) { present = Mutex(state) }

        func become(_ state: AuthState) { present.withLock { $0 = state } }

        var state: AuthState { get async { present.withLock { $0 } } }
        func authStateStream() -> SnapshotStream<AuthState, Never> { SnapshotStream { _ in {} } }
        func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken { throw Self.refusal }
        func signUp(email: String, password: Secret) async throws(AuthError) -> AuthUser { throw Self.refusal }
        func signIn(with credential: AuthCredential) async throws(AuthError) -> AuthUser { throw Self.refusal }
        func reauthenticate(with credential: AuthCredential) async throws(AuthError) { throw Self.refusal }
        func updateAccount(_ changes: AccountChanges) async throws(AuthError) -> AuthUser { throw Self.refusal }
        func reloadUser() async throws(AuthError) -> AuthUser { throw Self.refusal }
        func signOut(_ scope: SignOutScope, wipesLocalData: Bool) async throws(AuthError) { throw Self.refusal }

        private static let refusal = AuthError(.unsupported, "Nobody signs in here.")
    }

    private static func signedIn(_ id: String) -> AuthState { .signedIn(AuthUser(id: id, isAnonymous: false)) }
    private static let left = AuthState.signedOut(SignOut(.byUser, wipesLocalData: true))

    private let server = ModelServer()

    private func storage(_ auth: SilentAuthClient, _ folder: URL) async -> UserStorageClient {
        await UserStorageClient(
            driver: ModelDriver(server), folder: folder, cacheBytes: 100 << 20, context: ModuleContext(auth: auth))
    }

    @Test func `Who signed out while there was no storage leaves nothing to the next one`() async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let auth = SilentAuthClient(Self.signedIn("alice"))
        let first = await storage(auth, folder.url)
        try await first.setDocument("rooms/a", ["n": 1]).acknowledged()
        #expect(try await first.snapshot("rooms/a", from: .cache).exists)
        await first.shutDown()

        auth.become(Self.left)
        let second = await storage(auth, folder.url)
        await #expect(throws: StorageError.self) { try await second.snapshot("rooms/a", from: .cache) }
        // What is kept from then on is nobody's, and no part of that wish.
        try await second.setDocument("rooms/b", ["n": 2]).acknowledged()
        await second.shutDown()
        let third = await storage(auth, folder.url)
        #expect(try await third.snapshot("rooms/b", from: .cache).exists)
        await third.shutDown()
    }

    @Test func `Calls and streams that begin after a sign-in has returned are the new user's`() async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let auth = SilentAuthClient(Self.signedIn("alice"))
        let storage = await storage(auth, folder.url)
        try await storage.disableNetwork()
        _ = try await storage.setDocument("rooms/a", ["n": 1])
        #expect(try await storage.pendingWrites().newest.count == 1)
        auth.become(Self.signedIn("bob"))
        #expect(try await storage.pendingWrites().newest.isEmpty)
        try await storage.waitForPendingWrites()
        auth.become(Self.signedIn("alice"))
        #expect(try await storage.snapshots(of: "rooms/a" as StoragePath).newest.metadata.hasPendingWrites)
        await storage.shutDown()
    }
}

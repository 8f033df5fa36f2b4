import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardConformance
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSync

/// A storage that follows who is signed in.
@Suite(.timeLimit(.minutes(2))) struct UserStorageTests {
    /// Somebody whose comings and goings a test decides; the stream of states tells of them late, or never.
    private final class SilentAuthClient: ReadOnlyAuthClient {
        var provider: InfrastructureProvider { name.withLock { $0 } }
        private let name = Mutex<InfrastructureProvider>("silent")
        let capabilities = AuthCapabilities()
        private let present: Mutex<AuthState>
        /// `nil` for a client that remembers no requests.
        private let requests: Mutex<[WipeRequest]?>

        init(_ state: AuthState, remembersWipeRequests: Bool = false) {
            present = Mutex(state)
            requests = Mutex(remembersWipeRequests ? [] : nil)
        }

        /// - Parameter leaver: Who wanted to be forgotten before that, before anyone read it.
        func become(_ state: AuthState, after leaver: String? = nil) {
            if let leaver {
                requests.withLock { requests in
                    let number = requests?.count ?? 0
                    requests?.append(WipeRequest(id: "\(number)", userID: leaver))
                }
            }
            present.withLock { $0 = state }
        }

        /// Somebody else stands behind the client, with a request that they had long since.
        func exchange(for state: AuthState) {
            name.withLock { $0 = "other" }
            become(state, after: "somebody of theirs")
        }

        var wipeRequests: [WipeRequest]? { requests.withLock { $0 } }

        var state: AuthState { get async { present.withLock { $0 } } }
        func authStateStream() -> SnapshotStream<AuthState, Never> { SnapshotStream { _ in {} } }
        /// Comes to nothing, and not before the client is shut down.
        func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken {
            isAsked.withLock { $0 = true }
            _ = await end.value
            throw AuthError(.shutDown, "The client was shut down.")
        }
        func shutDown() async { end.resolve(()) }
        let isAsked = Mutex(false)
        private let end = Promise<Void>()
    }

    private static func signedIn(_ id: String) -> AuthState { .signedIn(AuthUser(id: id, isAnonymous: false)) }
    private static let left = AuthState.signedOut(SignOut(.byUser, wipesLocalData: true))

    private let server = ModelServer()

    private func storage(_ auth: SilentAuthClient, _ folder: URL) async throws -> SyncedStorageClient {
        try await SyncedStorageClient(
            driver: ModelDriver(server), folder: folder, cacheBytes: 100 << 20, context: ModuleContext(auth: auth))
    }

    @Test func `Who signed out while there was no storage leaves nothing to the next one`() async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let auth = SilentAuthClient(Self.signedIn("alice"))
        let first = try await storage(auth, folder.url)
        try await first.setDocument("rooms/a", ["n": 1]).acknowledged()
        #expect(try await first.document("rooms/a", from: .cache).exists)
        await first.shutDown()

        auth.become(Self.left)
        let second = try await storage(auth, folder.url)
        await #expect(throws: StorageError.self) { try await second.document("rooms/a", from: .cache) }
        // What is stored from then on is no one's, and no part of that request.
        try await second.setDocument("rooms/b", ["n": 2]).acknowledged()
        await second.shutDown()
        let third = try await storage(auth, folder.url)
        #expect(try await third.document("rooms/b", from: .cache).exists)
        await third.shutDown()
    }

    @Test func `Calls and streams that begin after a sign-in has returned are the new user's`() async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let auth = SilentAuthClient(Self.signedIn("alice"))
        let storage = try await storage(auth, folder.url)
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

    /// Commits wait for a token, as those of real servers do.
    private struct TokenDriver: ForwardingDriver {
        let base: ModelDriver
        let auth: any AuthClient

        func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
            do throws(AuthError) { _ = try await auth.accessToken() } catch {
                throw StorageError(.shutDown, error.message, isRetryable: false, underlying: error)
            }
            return try await base.commit(batch)
        }
    }

    @Test func `A write that is overtaken by another user is not queued`() async throws {
        let storage = device(server, user: "bob")
        let batch = try WriteBatch([.set("a/1", ["n": 1])])
        let error = await #expect(throws: StorageError.self) {
            try await storage.commit(batch, of: QueueOwner("alice"))
        }
        #expect(error?.code == .sessionChanged)
        #expect(try await storage.queue.isEmpty)
        try await storage.commit(batch, of: QueueOwner("bob")).acknowledged()
        await storage.shutDown()
    }

    @Test func `What waits for a token stays queued when auth is shut down first`() async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let auth = SilentAuthClient(Self.signedIn("alice"))
        let first = try await SyncedStorageClient(
            driver: TokenDriver(base: ModelDriver(server), auth: auth), folder: folder.url, cacheBytes: 1 << 20,
            context: ModuleContext(auth: auth))
        try await first.setDocument("rooms/a", ["n": 1])
        let receipt = try await first.setDocument("rooms/b", ["n": 2])
        try await eventually("a commit waits for its token") { auth.isAsked.withLock { $0 } }
        await auth.shutDown()
        try await eventually("that has come to nothing") {
            let attempts = try await first.pendingWrites().newest.first?.attempts ?? 0
            let refused = try await first.refusedWrites().newest.count
            return attempts > 0 || refused > 0
        }
        await first.shutDown()
        let error = await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
        #expect(error?.code == .shutDown)
        #expect(error?.message.contains("stays in the queue on this device") == true)

        let second = try await storage(auth, folder.url)
        #expect(try await second.refusedWrites().newest.isEmpty)
        try await second.waitForPendingWrites()
        #expect(server.documents.map(\.path).sorted() == ["rooms/a", "rooms/b"])
        await second.shutDown()
    }

    @Test func `Who signs out takes nothing of what another user has queued`() async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let auth = SilentAuthClient(Self.signedIn("alice"))
        let storage = try await storage(auth, folder.url)
        try await storage.disableNetwork()
        let receipt = try await storage.setDocument("rooms/a", ["n": 1])
        auth.become(Self.signedIn("bob"))
        try await storage.setDocument("rooms/b", ["n": 2])
        auth.become(Self.left)
        await #expect(throws: StorageError.self) { try await storage.document("rooms/b", from: .cache) }
        auth.become(Self.signedIn("bob"))
        #expect(try await storage.pendingWrites().newest.isEmpty)
        auth.become(Self.signedIn("alice"))
        #expect(try await storage.pendingWrites().newest.map(\.id) == [receipt.batchID])
        await storage.shutDown()
    }

    @Test(arguments: ["bob", "alice"])
    func `A request to wipe is carried out although somebody has signed in before anybody looked`(
        _ next: String
    ) async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let auth = SilentAuthClient(Self.signedIn("bob"), remembersWipeRequests: true)
        let storage = try await storage(auth, folder.url)
        try await storage.disableNetwork()
        let bobs = try await storage.setDocument("rooms/b", ["n": 1])
        auth.become(Self.signedIn("alice"))
        let lost = try await storage.setDocument("rooms/a", ["n": 2])
        auth.become(Self.signedIn(next), after: "alice")
        await #expect(throws: StorageError.self) { try await storage.document("rooms/a", from: .cache) }
        let error = await #expect(throws: StorageError.self) { try await lost.acknowledged() }
        #expect(error?.code == .cancelled)
        // Once: what is written from then on is no part of that request.
        let later = try await storage.setDocument("rooms/c", ["n": 3])
        #expect(try await storage.pendingWrites().newest.last?.id == later.batchID)
        auth.become(Self.signedIn("bob"))
        #expect(try await storage.pendingWrites().newest.first?.id == bobs.batchID)
        try await storage.enableNetwork()
        try await bobs.acknowledged()
        await storage.shutDown()
    }

    @Test(arguments: [false, true])
    func `Another auth client brings no requests along from before it was chosen`(_ remembersWipeRequests: Bool)
        async throws
    {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let auth = SilentAuthClient(Self.signedIn("alice"), remembersWipeRequests: remembersWipeRequests)
        let storage = try await storage(auth, folder.url)
        try await storage.disableNetwork()
        let alices = try await storage.setDocument("rooms/a", ["n": 1])
        auth.exchange(for: Self.left)
        #expect(try await storage.pendingWrites().newest.isEmpty)
        auth.become(Self.signedIn("alice"))
        #expect(try await storage.pendingWrites().newest.map(\.id) == [alices.batchID])
        await storage.shutDown()
    }

    @Test func `A wipe that fails is told once, and tried again until it is done`() async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let first = device(server, .folder(folder.url), user: "alice")
        try await first.setDocument("rooms/a", ["n": 1]).acknowledged()
        await first.shutDown()

        let other = try SQLiteStore(folder: folder.url)
        let auth = SilentAuthClient(Self.signedIn("alice"), remembersWipeRequests: true)
        let log = EventLog()
        let client = device(server, .folder(folder.url), user: "alice")
        let session = SessionFeed(auth).subscribe { [engine = client.engine] change in
            try await engine.follow(change)
        } failed: {
            log.observe(InfrastructureEvent(service: .storage, provider: "model", kind: .notice("\($0)")))
        }
        await session.catchUp()
        auth.become(Self.signedIn("bob"), after: "alice")
        for _ in 1...3 { await session.catchUp() }
        #expect(log.all.count == 1)
        other.close()
        await session.catchUp()
        await #expect(throws: StorageError.self) { try await client.document("rooms/a", from: .cache) }
        #expect(log.all.count == 1)
        await client.shutDown()
    }

    @Test(arguments: [AuthState.locked, .unknown])
    func `What is written while it is unknown whose session it is, is refused and may be tried again`(
        _ state: AuthState
    ) async throws {
        let folder = try TemporaryFolder(in: ScratchSpace.url)
        let auth = SilentAuthClient(state)
        let storage = try await storage(auth, folder.url)
        let error = await #expect(throws: StorageError.self) { try await storage.setDocument("rooms/a", ["n": 1]) }
        #expect(error?.isRetryable == true && error?.code == .unauthenticated)
        auth.become(Self.signedIn("alice"))
        #expect(try await storage.pendingWrites().newest.isEmpty)
        try await storage.setDocument("rooms/a", ["n": 2]).acknowledged()
        #expect(server.documents.map { $0["n"] } == [2])
        await storage.shutDown()
    }
}

import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

/// What becomes of a user's documents on a device when they sign out.
@Suite struct MockSignOutTests {
    private let server = MockBackend()
    private let network = MockNetwork()
    private let device: Infrastructure
    private let other: MockStorageClient

    init() async throws {
        device = try await InfrastructureFactory(MockModule(backend: server, network: network)).make(
            InfrastructureSelection(default: .mock))
        other = MockStorageClient(server)
        try await device.auth.signUp(email: "alice@example.com", password: "secret")
    }

    private var waiting: Int {
        get async throws { try #require(await firstValue(of: device.storage.pendingWrites())).count }
    }

    private func isCached(_ path: StoragePath) async -> Bool {
        (try? await device.storage.document(path, from: .cache)) != nil
    }

    @Test func `With that request nothing is left, and nothing is sent any more`() async throws {
        try await device.storage.setDocument("a/1", ["n": 1])
        network.isOnline = false
        let receipt = try await device.storage.setDocument("a/1", ["n": 2])
        #expect(await isCached("a/1"))
        try await device.auth.signOut(.local, wipesLocalData: true)
        network.isOnline = true
        #expect(await !isCached("a/1"))
        #expect(try await waiting == 0)
        let error = await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
        #expect(error?.code == .cancelled)
        #expect(try await other.document("a/1")["n"] == 1)
        await device.shutDown()
    }

    @Test func `A request is not taken for an earlier one, nor carried out twice`() async throws {
        for round in 1...3 {
            network.isOnline = false
            try await device.storage.setDocument("a/1", ["n": .of(round)])
            try await device.auth.signOut(.local, wipesLocalData: true)
            // Written by no one in particular, after everything was wiped.
            try await device.storage.setDocument("a/2", ["n": .of(round)])
            #expect(await device.auth.state == .signedOut(SignOut(.byUser, wipesLocalData: true)))
            #expect(try await waiting == 1)
            network.isOnline = true
            try await device.storage.waitForPendingWrites()
            try await device.auth.signIn(email: "alice@example.com", password: "secret")
            try await device.storage.waitForPendingWrites()
        }
        #expect(try await !other.document("a/1").exists)
        #expect(try await other.document("a/2")["n"] == 3)
        await device.shutDown()
    }

    @Test func `Everybody has a queue of their own, which waits until they come back`() async throws {
        network.isOnline = false
        let receipt = try await device.storage.setDocument("a/1", ["n": 1])
        #expect(try await waiting == 1)
        let shown = Gathered(device.storage.pendingWrites())
        try await eventually("the queue") { shown.last?.count == 1 }
        try await device.auth.signOut()
        try await eventually("no one's queue") { shown.last?.isEmpty == true }
        #expect(try await waiting == 0)
        network.isOnline = true
        try await device.auth.signUp(email: "bob@example.com", password: "secret")
        try await device.storage.setDocument("a/2", ["n": 2]).acknowledged()
        try await device.storage.waitForPendingWrites()
        #expect(try await !other.document("a/1").exists, "it is Alice's")
        #expect(try await !device.storage.document("a/1").exists, "and no one else sees it")
        try await device.auth.signOut(.local, wipesLocalData: true)
        try await device.auth.signIn(email: "alice@example.com", password: "secret")
        _ = try await device.storage.document("a/1")
        try await receipt.acknowledged()
        #expect(try await other.document("a/1")["n"] == 1, "what Bob wanted forgotten was not hers")
        await device.shutDown()
    }

    @Test func `Deleting the account wipes too, signing out without that request does not`() async throws {
        try await device.storage.setDocument("a/1", ["n": 1])
        try await device.auth.signOut()
        #expect(await isCached("a/1"))
        try await device.auth.signIn(email: "alice@example.com", password: "secret")
        #expect(await isCached("a/1"))
        try await device.auth.deleteAccount()
        #expect(await !isCached("a/1"))
        await device.shutDown()
    }

    @Test func `The notes of uploads that were interrupted go too, and only theirs who want it`() async throws {
        let source = ScratchSpace.url.appendingPathComponent("upload-\(UInt64.random(in: 0 ... .max))")
        try Data(count: 600_000).write(to: source)
        let files = device.files
        let controls = try #require(files.unwrapped(as: MockFileStorageClient.self)).controls
        func interrupt(_ path: FilePath) async throws {
            controls.fail(.uploadPart, onCall: 2, with: FileStorageError(.unavailable, "Gone."))
            await #expect(throws: FileStorageError.self) { try await files.upload(.file(source), to: path).result() }
        }
        try await interrupt("alice.bin")
        #expect(try await files.interruptedUploads().map(\.path) == ["alice.bin"])
        try await device.auth.signOut()
        #expect(try await files.interruptedUploads().isEmpty, "it is no one else's")
        try await device.auth.signUp(email: "bob@example.com", password: "secret")
        #expect(try await files.interruptedUploads().isEmpty)
        try await interrupt("bob.bin")
        try await device.auth.signOut(.local, wipesLocalData: true)
        try await device.auth.signIn(email: "bob@example.com", password: "secret")
        try await eventually("nothing is left of Bob's") { try await files.interruptedUploads().isEmpty }
        try await device.auth.signIn(email: "alice@example.com", password: "secret")
        let kept = try #require(try await files.interruptedUploads().first)
        #expect(try await files.resumeUpload(kept.id).result().size == 600_000)
        await device.shutDown()
    }

    @Test func `Streams that are open go on, with what the server has`() async throws {
        try await device.storage.setDocument("a/1", ["n": 1])
        let options = ListenOptions(includesMetadataChanges: true)
        let stream = Gathered(device.storage.snapshots(of: "a/1" as StoragePath, options: options))
        try await eventually("the document") { stream.last?["n"] == 1 }
        network.isOnline = false
        try await device.storage.setDocument("a/1", ["n": 2])
        try await eventually("the write that waits") { stream.last?["n"] == 2 }
        try await device.auth.signOut(.local, wipesLocalData: true)
        try await eventually("that nothing is known") { stream.last?.exists == false }
        network.isOnline = true
        try await eventually("the server's document") { stream.last?["n"] == 1 }
        #expect(stream.error == nil)
        stream.stop()
        await device.shutDown()
    }

    @Test func `What is written while the session is locked is refused, and may be tried again`() async throws {
        let sessions = MockSessionStore()
        try await MockAuthClient(server, store: sessions).signIn(email: "alice@example.com", password: "secret")
        sessions.isLocked = true
        let auth = MockAuthClient(server, store: sessions)
        let storage = try await MockModule(backend: server).makeStorageClient(ModuleContext(auth: auth))
        let error = await #expect(throws: StorageError.self) { try await storage.setDocument("a/1", ["n": 1]) }
        #expect(error?.code == .unauthenticated && error?.isRetryable == true)
        sessions.isLocked = false
        try await storage.setDocument("a/1", ["n": 2]).acknowledged()
        #expect(try await other.document("a/1")["n"] == 2)
        await storage.shutDown()
        await device.shutDown()
    }

    @Test func `A client that has been shut down has no followers`() async throws {
        let auth = try #require(device.auth.unwrapped(as: MockAuthClient.self))
        _ = try await device.storage.document("a/1")
        try await eventually("one feed follows the session for all") { auth.listenerCount == 1 }
        let storage = device.storage.unwrapped(as: MockStorageClient.self)
        await storage?.shutDown()
        #expect(auth.listenerCount == 1)
        await device.shutDown()
        try await eventually("no one does") { auth.listenerCount == 0 }
    }

    @Test func `Somebody who signs in at once does not make the request forgotten`() async throws {
        for round in 1...20 {
            try await device.storage.setDocument("a/1", ["n": .of(round)])
            #expect(await isCached("a/1"))
            try await device.auth.signOut(.local, wipesLocalData: true)
            try await device.auth.signUp(email: "user\(round)@example.com", password: "secret")
            #expect(await !isCached("a/1"), "round \(round)")
        }
        await device.shutDown()
    }
}

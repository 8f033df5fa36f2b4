import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

/// Writes that are on their way to the server when another user signs in.
@Suite(.timeLimit(.minutes(1))) struct MockUserChangeTests {
    private let clock = ManualClock()
    private let network: MockNetwork
    private let server: MockBackend
    private let device: Infrastructure
    private let storage: MockStorageClient
    private let project: MockStorageClient
    private let alice: AuthUser

    init() async throws {
        network = MockNetwork(clock: clock)
        server = MockBackend(rules: .signedIn)
        device = try await InfrastructureFactory(MockModule(backend: server, network: network)).make(
            InfrastructureSelection(default: .mock))
        storage = try #require(device.storage.unwrapped(as: MockStorageClient.self))
        project = MockStorageClient(server)
        alice = try await device.auth.signUp(email: "alice@example.com", password: "secret").get()
    }

    /// Queues Alice's write, and returns while it is on its way.
    private func send(_ path: StoragePath) async throws -> WriteReceipt {
        network.isOnline = false
        let receipt = try await device.storage.setDocument(path, ["by": "alice"])
        network.latency = .seconds(1)
        network.isOnline = true
        try await eventually("the write is on its way") { clock.sleeperCount == 1 }
        network.latency = .zero
        return receipt
    }

    private func become(_ name: String) async throws {
        try await device.auth.signOut()
        guard name != "alice" else {
            try await device.auth.signIn(email: "alice@example.com", password: "secret")
            return
        }
        try await device.auth.signUp(email: "\(name)@example.com", password: "secret").get()
    }

    /// Lets what is on its way arrive. Bob's queued write is sent after it, by the same task.
    private func arrive() async throws {
        network.isOnline = false
        let receipt = try await device.storage.setDocument("rooms/bob", ["by": "bob"])
        network.isOnline = true
        clock.advance(by: .seconds(1))
        try await receipt.acknowledged()
    }

    private var refused: [RefusedWrite] {
        get async throws { try #require(await firstValue(of: device.storage.refusedWrites())) }
    }

    @Test func `A queued write is never sent as another user, and waits for its own`() async throws {
        let receipt = try await send("rooms/alice")
        try await become("bob")
        try await arrive()
        #expect(try await !project.document("rooms/alice").exists)
        #expect(try await refused.isEmpty)
        try await become("alice")
        try await receipt.acknowledged()
        #expect(try await project.document("rooms/alice")["by"] == "alice")
        await device.shutDown()
    }

    @Test func `What the rules allow to its own user only is no other user's refused write`() async throws {
        let backend = MockBackend(rules: .ownersOnly)
        let network = MockNetwork(clock: clock)
        let device = try await InfrastructureFactory(MockModule(backend: backend, network: network)).make(
            InfrastructureSelection(default: .mock))
        let alice = try await device.auth.signUp(email: "alice@example.com", password: "secret").get()
        network.isOnline = false
        let receipt = try await device.storage.setDocument("users/\(alice.id)", ["n": 1])
        network.latency = .seconds(1)
        network.isOnline = true
        try await eventually("the write is on its way") { clock.sleeperCount == 1 }
        network.latency = .zero
        try await device.auth.signOut()
        let bob = try await device.auth.signUp(email: "bob@example.com", password: "secret").get()
        network.isOnline = false
        let bobs = try await device.storage.setDocument("users/\(bob.id)", ["n": 2])
        network.isOnline = true
        clock.advance(by: .seconds(1))
        try await bobs.acknowledged()
        #expect(try #require(await firstValue(of: device.storage.refusedWrites())).isEmpty)
        try await device.auth.signOut()
        try await device.auth.signIn(email: "alice@example.com", password: "secret")
        try await receipt.acknowledged()
        await device.shutDown()
    }

    @Test func `A refusal that arrives late is noted for the user whose write it was`() async throws {
        storage.controls.fail(.send, with: StorageError(.unauthorized, "No.", isRetryable: false))
        let receipt = try await send("rooms/alice")
        try await become("bob")
        try await arrive()
        #expect(try await refused.isEmpty)
        await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
        try await become("alice")
        #expect(try await refused.map(\.id) == [receipt.batchID])
        await device.shutDown()
    }

    @Test func `A write on its way that was discarded is not carried out`() async throws {
        let receipt = try await send("rooms/alice")
        try await device.auth.signOut(.local, wipesLocalData: true)
        try await device.auth.signUp(email: "bob@example.com", password: "secret").get()
        try await arrive()
        let error = await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
        #expect(error?.code == .cancelled)
        #expect(try await !project.document("rooms/alice").exists)
        await device.shutDown()
    }

    @Test func `A write that another user overtakes before it is queued is refused to its caller`() async throws {
        network.latency = .seconds(1)
        let write = Task { try await device.storage.setDocument("rooms/alice", ["by": "alice"]) }
        try await eventually("the call is under way") { clock.sleeperCount == 1 }
        network.latency = .zero
        try await become("bob")
        _ = try await device.storage.document("rooms/bob")
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: StorageError.self) { try await write.value }
        #expect(error?.code == .sessionChanged)
        #expect(try await !project.document("rooms/alice").exists)
        await device.shutDown()
    }

    @Test func `Streams of the queue that begin after a sign-in are the new user's at once`() async throws {
        for round in 1...20 {
            // What the round before has left is sent first, and must not meet the failure.
            try await device.storage.waitForPendingWrites()
            storage.controls.fail(.send, with: StorageError(.unauthorized, "No.", isRetryable: false))
            network.isOnline = false
            let receipt = try await device.storage.setDocument("rooms/alice", ["by": "alice"])
            network.isOnline = true
            await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
            network.isOnline = false
            try await device.storage.setDocument("rooms/alice", ["by": "alice"])
            network.isOnline = true
            try await device.auth.signUp(email: "user\(round)@example.com", password: "secret").get()
            #expect(try await refused.isEmpty)
            #expect(try #require(await firstValue(of: device.storage.pendingWrites())).isEmpty)
            try await become("alice")
            #expect(try await refused.count == round)
        }
        await device.shutDown()
    }

    @Test func `A transaction never continues for another user`() async throws {
        let error = await #expect(throws: StorageError.self) {
            try await device.storage.transaction { [device] transaction in
                _ = try await transaction.document("rooms/alice")
                try await device.auth.signOut()
                try await device.auth.signUp(email: "bob@example.com", password: "secret").get()
                _ = try await device.storage.document("rooms/bob")
                try await transaction.set("rooms/alice", ["by": "alice"])
            }
        }
        #expect(error?.code == .sessionChanged)
        #expect(try await !project.document("rooms/alice").exists)
        await device.shutDown()
    }

    @Test func `The pause after one user's failure delays no other user's writes`() async throws {
        storage.controls.fail(.send, with: StorageError(.unavailable, "Gone."))
        network.isOnline = false
        let receipt = try await device.storage.setDocument("rooms/alice", ["by": "alice"])
        network.isOnline = true
        try await eventually("the pause") { clock.sleeperCount == 1 }
        try await become("bob")
        network.isOnline = false
        let bobs = try await device.storage.setDocument("rooms/bob", ["by": "bob"])
        network.isOnline = true
        try await bobs.acknowledged()
        #expect(try await !project.document("rooms/alice").exists)
        try await become("alice")
        try await receipt.acknowledged()
        await device.shutDown()
    }
}

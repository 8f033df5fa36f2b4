import Foundation
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import Switchyard

@Suite struct SwitchingTests {
    @Test func `What a provider deletes by itself is left to it`() async throws {
        struct Deleting: StorageClientWrapper {
            let base: any StorageClient
            func deleteRecursively(
                _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
            ) async throws(StorageError) -> Int { 4711 }
        }
        let board = Switchboard<any StorageClient>(Deleting(base: MockStorageClient(MockBackend())))
        #expect(try await Routed(Route(board)).deleteRecursively("a/1") == 4711)
    }

    private let east = MockSide<EastSide>()
    private let west = MockSide<WestSide>()
    private var factory: InfrastructureFactory { InfrastructureFactory(east, west) }

    private func storage(_ module: MockSide<EastSide>) -> MockStorageClient { MockStorageClient(module.backend) }

    @Test func `A live query moves over, and its changes lead from what was seen last`() async throws {
        let backend = try await factory.make(InfrastructureSelection(default: "east"))
        try await MockStorageClient(west.backend).setDocument("notes/b", ["n": 2])
        try await MockStorageClient(west.backend).setDocument("notes/c", ["n": 3])
        try await backend.storage.setDocument("notes/a", ["n": 1])
        try await backend.storage.setDocument("notes/b", ["n": 2])

        var shown: [String] = []
        var steps = 0
        for try await snapshot in backend.storage.snapshots(of: Query(in: "notes")) {
            for change in snapshot.changes {
                if let old = change.oldIndex { shown.remove(at: old) }
                if let new = change.newIndex { shown.insert(change.document.id, at: new) }
            }
            #expect(shown == snapshot.documents.map(\.id))
            steps += 1
            if steps == 1 { try await backend.use("west", for: .storage) }
            if shown == ["b", "c"] { break }
        }
        #expect(backend.storage.provider == .mock)
        #expect(await backend.selection.provider(for: .storage) == "west")
        await backend.shutDown()
    }

    @Test func `A new client that cannot be made leaves everything as it was`() async throws {
        let backend = try await factory.make(InfrastructureSelection(default: "east"))
        try await backend.storage.setDocument("notes/a", ["n": 1])
        west.storageFailure.raise()
        let error = await #expect(throws: InfrastructureError.self) { try await backend.use("west", for: .storage) }
        #expect(error?.code == .localStore)
        #expect(await backend.selection.provider(for: .storage) == "east")
        #expect(try await backend.storage.document("notes/a").exists)
        await backend.shutDown()
    }

    @Test func `A call under way ends on the client it began on, which is shut down only then`() async throws {
        let old = MockNetwork(clock: ManualClock())
        let clock = try #require(old.clock as? ManualClock)
        let slow = MockStorageClient(east.backend, network: old)
        try await slow.setDocument("notes/a", ["n": 1])
        let board = Switchboard<any StorageClient>(slow)
        let switchable = Routed(Route(board))

        old.latency = .seconds(5)
        let reading = Task { try await switchable.document("notes/a") }
        try await eventually("the call is under way") { clock.sleeperCount == 1 }
        let generation = board.connect(MockStorageClient(west.backend))
        let draining = Task { await board.drain(generation, within: .seconds(600), clock: ContinuousClock()) }
        #expect(try await switchable.document("notes/a").exists == false)
        clock.advance(by: .seconds(5))
        #expect(try await reading.value.exists)
        #expect(await draining.value == 0)
    }

    @Test func `A transaction without reads and writes leaves nothing to wait for`() async throws {
        let board = Switchboard<any StorageClient>(MockStorageClient(east.backend))
        try await Routed(Route(board)).transaction { _ in }
        let generation = board.connect(MockStorageClient(west.backend))
        #expect(await board.drain(generation, within: .zero, clock: ContinuousClock()) == 0)
    }

    @Test func `A call that does not end is given up at the deadline, and counted`() async throws {
        let clock = ManualClock()
        let board = Switchboard<any StorageClient>(MockStorageClient(east.backend))
        let (_, lease) = try board.lease("test", StorageError.self)
        let generation = board.connect(MockStorageClient(west.backend))
        let draining = Task { await board.drain(generation, within: .seconds(30), clock: clock) }
        try await eventually("the deadline runs") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(30))
        #expect(await draining.value == 1)
        board.release(lease)
    }

    @Test func `A file that is being read ends on the client it began on, which is in use until then`() async throws {
        let old = MockFileStorageClient(east.backend, partSize: 4)
        let new = MockFileStorageClient(west.backend, partSize: 4)
        for (client, text) in [(old, "from the east"), (new, "from the west")] {
            _ = try await client.put(Data(text.utf8), at: "a.txt")
        }
        let board = Switchboard<any FileStorageClient>(old)
        let switchable = Routed(Route(board))
        let bytes = switchable.bytes(of: "a.txt", range: nil)

        var reading = bytes.makeAsyncIterator()
        var contents = try #require(try await reading.next())
        let generation = board.connect(new)
        let clock = ManualClock()
        let draining = Task { await board.drain(generation, within: .seconds(30), clock: clock) }
        try await eventually("the old client is waited for", within: .seconds(20)) { clock.sleeperCount == 1 }
        while let part = try await reading.next() { contents += part }
        #expect(String(decoding: contents, as: UTF8.self) == "from the east")
        #expect(await draining.value == 0)
        #expect(try await reading.next() == nil)

        // The same stream, begun after the switch; left before its end.
        for try await part in bytes {
            #expect(part == Data("from".utf8))
            let clock = ManualClock()
            let generation = board.connect(old)
            let draining = Task { await board.drain(generation, within: .seconds(30), clock: clock) }
            try await eventually("so is the new one", within: .seconds(20)) { clock.sleeperCount == 1 }
            clock.advance(by: .seconds(30))
            #expect(await draining.value == 1)
            break
        }
        let left = board.connect(new)
        #expect(await board.drain(left, within: .seconds(30), clock: clock) == 0)
    }

    @Test func `Domain clients follow the storage, and those that are pinned stay`() async throws {
        var selection = InfrastructureSelection(default: "east")
        selection.contacts = "east"
        let backend = try await factory.make(selection)
        try await backend.auth.signUp(email: "a@example.com", password: "long enough")
        try await backend.users.updateProfile(ProfileChanges(displayName: "EastSide"))
        try await backend.contacts.add(ContactModel(id: "bob", name: "Bob"))

        let report = try await backend.use("west", for: .storage)
        #expect(Set(report.moves.map(\.service)) == [.storage, .users, .checkIns, .notifications])
        #expect("\(report)" == "storage: east → west")
        #expect(try await backend.users.currentUser().displayName != "EastSide")
        #expect(try await backend.contacts.contacts().map(\.name) == ["Bob"])
        // The storage that the pinned client lives on is still there, and there is only one of it.
        #expect(east.storageClients.count == 1)
        await backend.shutDown()
    }

    @Test func `One instance serves everything that asks for it, and comes back new after it was dropped`() async throws
    {
        let backend = try await factory.make(InfrastructureSelection(default: "east"))
        #expect(east.storageClients.count == 1)
        try await backend.use("west", for: .messaging)
        #expect(east.storageClients.count == 1)
        await (try await backend.use("west", for: .storage)).drained()
        try await backend.use("east", for: .storage)
        #expect(east.storageClients.count == 2)
        await backend.shutDown()
    }

    @Test func `A client that its provider lacks is refused when it is chosen, and an omitted one when it is used`()
        async throws
    {
        var poor = MockSide<WestSide>()
        poor.hasMessaging = false
        let factory = InfrastructureFactory(east, poor)
        let error = await #expect(throws: InfrastructureError.self) {
            _ = try await factory.make(InfrastructureSelection(default: "west"))
        }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("messaging") == true)

        var selection = InfrastructureSelection(default: "west")
        selection.omit(.messaging)
        let backend = try await factory.make(selection)
        let refusal = await #expect(throws: MessagingError.self) { _ = try await backend.messaging.token() }
        #expect(refusal?.code == .unsupported)
        await backend.shutDown()
    }

    @Test
    func `The state of the session follows the chosen auth, and unknown providers are named with those there are`()
        async throws
    {
        let backend = try await factory.make(InfrastructureSelection(default: "east"))
        try await backend.auth.signUp(email: "a@example.com", password: "long enough")
        var states = backend.auth.authStateStream().makeAsyncIterator()
        while let state = await states.next(), !state.isSignedIn {}
        try await backend.use("west", for: .auth)
        while let state = await states.next() {
            if case .signedOut = state { break }
        }
        let error = await #expect(throws: InfrastructureError.self) { try await backend.use("wset", for: .auth) }
        #expect(error?.code == .unknownProvider)
        #expect(error?.message.contains("east, west") == true)
        #expect(error?.message.contains("Did you mean “west”?") == true)
        await backend.shutDown()
    }

    @Test func `After the end every use is refused`() async throws {
        let backend = try await factory.make(InfrastructureSelection(default: "east"))
        await backend.shutDown()
        await backend.shutDown()
        let error = await #expect(throws: InfrastructureError.self) { try await backend.use("west", for: .auth) }
        #expect(error?.code == .shutDown)
        let refusal = await #expect(throws: StorageError.self) { _ = try await backend.storage.document("a/b") }
        #expect(refusal?.code == .shutDown)
    }

    @Test func `Another state folder is another set-up: its clients are recreated`() async throws {
        var configuration = InfrastructureConfiguration(InfrastructureSelection(default: "east"))
        configuration.stateFolder = URL(fileURLWithPath: "/tmp/first")
        let backend = try await factory.make(configuration)
        #expect(east.storageClients.count == 1)
        try await backend.use(configuration)
        #expect(east.storageClients.count == 1)
        configuration.stateFolder = URL(fileURLWithPath: "/tmp/second")
        try await backend.use(configuration)
        #expect(east.storageClients.count == 2)
        await backend.shutDown()
    }

    @Test func `Changes at the same time are made one after the other`() async throws {
        let backend = try await factory.make(InfrastructureSelection(default: "east"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<20 {
                group.addTask { try await backend.use(index.isMultiple(of: 2) ? "west" : "east", for: .storage) }
                group.addTask { _ = try await backend.storage.document("a/b") }
            }
            try await group.waitForAll()
        }
        try await backend.storage.setDocument("a/b", ["n": 1])
        #expect(try await backend.storage.document("a/b").exists)
        await backend.shutDown()
    }
}

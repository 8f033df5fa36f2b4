import Switchyard
import Testing

@testable import SwitchyardSync

/// Another user has signed in, and the store cannot go over to their queue yet.
@Suite struct ChangingUserTests {
    private let store = FlakyStore(MemoryStore())
    private let machine: SyncMachine

    init() throws {
        machine = try SyncMachine(
            store: store, policy: .standard, owner: QueueOwner("alice"))
        _ = machine.start()
        _ = machine.handle(.setNetwork(isEnabled: false))
    }

    private func write(_ path: StoragePath, _ token: Int) throws -> Result<Void, StorageError> {
        let actions = machine.handle(.write(token, [try .set(path, ["n": 1])], at: Timestamp(microseconds: 1)))
        for case .writeFinished(token, .failure(let error)) in actions { return .failure(error) }
        return .success(())
    }

    @Test func `What they write meanwhile is refused, and is in no queue`() throws {
        try write("rooms/alice", 1).get()
        store.failing = [.changeUser]
        _ = machine.handle(.setUser(QueueOwner("bob")))
        #expect(machine.owner == QueueOwner("alice"))
        let error = #expect(throws: StorageError.self) { try write("rooms/bob", 2).get() }
        #expect(error?.code == .localStore && error?.isRetryable == true)
        // Nor is what the other has queued theirs to see.
        #expect(throws: StorageError.self) { try machine.queue() }
        #expect(throws: StorageError.self) { try machine.refused() }
        #expect(throws: StorageError.self) { try machine.document(at: "rooms/alice") }
        #expect(throws: StorageError.self) { try machine.run(Query(in: "rooms")) }

        store.failing = []
        _ = machine.handle(.timer(.recovery))
        #expect(machine.owner == QueueOwner("bob"))
        #expect(try machine.queue().isEmpty)
        try write("rooms/bob", 3).get()
        #expect(try machine.queue().flatMap(\.paths) == ["rooms/bob"])
        _ = machine.handle(.setUser(QueueOwner("alice")))
        #expect(try machine.queue().flatMap(\.paths) == ["rooms/alice"])
    }

    @Test func `Who comes back before that goes on with their own queue`() throws {
        try write("rooms/alice", 1).get()
        store.failing = [.changeUser]
        _ = machine.handle(.setUser(QueueOwner("bob")))
        _ = machine.handle(.setUser(QueueOwner("alice")))
        store.failing = []
        _ = machine.handle(.timer(.recovery))
        _ = machine.handle(.timer(.recovery))
        #expect(machine.owner == QueueOwner("alice"))
        try write("rooms/more", 2).get()
        #expect(try machine.queue().flatMap(\.paths) == ["rooms/alice", "rooms/more"])
    }
}

import SwitchyardMock
import SwitchyardTestSupport
import Testing

@testable import Switchyard

/// The status of one storage, and of an infrastructure whose storage is switched.
@Suite(.timeLimit(.minutes(1))) struct SyncStatusTests {
    /// The newest element for which `isWanted` holds.
    private func first(
        _ stream: SnapshotStream<SyncStatus, Never>, where isWanted: (SyncStatus) -> Bool
    ) async throws -> SyncStatus {
        for await status in stream where isWanted(status) { return status }
        throw StorageError(.internal, "The status ended.")
    }

    @Test func `A storage without a queue has nothing to tell, one with a queue tells what it shows`() async throws {
        var plain = StorageCapabilities.all
        plain.offline = false
        var seen: [SyncStatus] = []
        for await status in ToyStorage(capabilities: plain).syncStatus() { seen.append(status) }
        #expect(seen == [SyncStatus()])

        struct Waiting: StorageClientWrapper {
            let base: any StorageClient
            let write: PendingWrite
            func pendingWrites() -> SnapshotStream<[PendingWrite], StorageError> { .just([write]) }
            // What a client has that does not tell.
            func syncStatus() -> SnapshotStream<SyncStatus, Never> { Untold(base: self).syncStatus() }
        }
        let error = StorageError(.unavailable, "No network.")
        let write = PendingWrite(
            id: "b", batch: WriteBatch([.delete("a/b")]), queuedAt: Timestamp(microseconds: 1), attempts: 1,
            lastError: error)
        let status = try await first(Waiting(base: ToyStorage(), write: write).syncStatus()) { _ in true }
        #expect(status == SyncStatus(pendingCount: 1, oldestPending: write, firstError: error))
    }

    @Test func `The mock tells of its network, its queue and when it was last in sync`() async throws {
        let clock = ManualClock()
        let network = MockNetwork(clock: clock)
        let backend = MockBackend()
        let storage = MockStorageClient(backend, network: network)
        let online = try await first(storage.syncStatus()) { _ in true }
        #expect(online.isOnline == true && online.pendingCount == 0 && online.firstError == nil)
        #expect(online.lastSynced != nil)
        network.isOnline = false
        let receipt = try await storage.setDocument("a/b", ["n": 1])
        let offline = try await first(storage.syncStatus()) { $0.pendingCount == 1 }
        #expect(offline.isOnline == false && offline.oldestPending?.id == receipt.batchID)
        #expect(offline.firstError?.code == .unavailable && !offline.isWorking && offline.lastSynced != nil)
        network.isOnline = true
        let synced = try await first(storage.syncStatus()) { $0.pendingCount == 0 && !$0.isWorking }
        #expect(synced.isOnline == true && synced.firstError == nil)
        #expect(storage.listenerCount == 0)
    }

    @Test func `An infrastructure follows its storage to the next provider, and counts what is left at the last`()
        async throws
    {
        let clock = ManualClock()
        let (east, west) = (MockSide<EastSide>(), MockSide<WestSide>())
        let backend = try await InfrastructureFactory(east, west).make(
            InfrastructureSelection(default: "east"), in: InfrastructureOptions(clock: clock))
        east.network.isOnline = false
        try await backend.storage.setDocument("notes/a", ["n": 1])
        let before = try await first(backend.syncStatus()) { $0.pendingCount == 1 }
        #expect(before.isOnline == false)
        try await backend.use("west", for: .storage)
        let one = try await first(backend.storage.syncStatus()) { $0.isOnline == true }
        #expect(one.pendingCount == 0)
        let whole = try await first(backend.syncStatus()) { $0.isOnline == true && $0.pendingCount == 1 }
        #expect(whole.firstError?.code == .unavailable && whole.oldestPending != nil)
        east.network.isOnline = true
        let synced = try await first(backend.syncStatus()) { $0.pendingCount == 0 }
        #expect(synced.firstError == nil && synced.isOnline == true)
        await backend.shutDown()
    }

    @Test func `An open status moves to the next provider`() async throws {
        let (east, west) = (MockSide<EastSide>(), MockSide<WestSide>())
        let backend = try await InfrastructureFactory(east, west).make(InfrastructureSelection(default: "east"))
        west.network.isOnline = false
        let followed = Task { [stream = backend.syncStatus()] in
            var shown: [Bool?] = []
            for await status in stream {
                if shown.last != status.isOnline { shown.append(status.isOnline) }
                if status.isOnline == false { break }
            }
            return shown
        }
        try await eventually("it is followed") { backend.storage.mock?.listenerCount == 1 }
        try await backend.use("west", for: .storage)
        #expect(await followed.value == [true, false])
        await backend.shutDown()
    }
}

/// Hides the status of its base, as a client from before there was one.
private struct Untold: StorageClient {
    let base: any StorageClient

    var provider: InfrastructureProvider { base.provider }
    var capabilities: StorageCapabilities { base.capabilities }
    func document(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        try await base.document(path, from: source)
    }
    func documents(_ query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        try await base.documents(query, from: source)
    }
    func snapshots(of path: StoragePath, options: ListenOptions) -> SnapshotStream<DocumentSnapshot, StorageError> {
        base.snapshots(of: path, options: options)
    }
    func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError> {
        base.snapshots(of: query, options: options)
    }
    func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt { try await base.commit(batch) }
    func pendingWrites() -> SnapshotStream<[PendingWrite], StorageError> { base.pendingWrites() }
}

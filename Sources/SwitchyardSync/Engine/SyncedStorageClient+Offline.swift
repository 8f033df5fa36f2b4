public import Switchyard
import SwitchyardBytes
import Synchronization

extension SyncedStorageClient {
    public func enableNetwork() async throws(StorageError) {
        await session?.catchUp()
        try await engine.setNetwork(isEnabled: true)
    }

    public func disableNetwork() async throws(StorageError) {
        try await engine.setNetwork(isEnabled: false)
    }

    public func waitForPendingWrites() async throws(StorageError) {
        await session?.catchUp()
        guard let result = try await engine.waitForPendingWrites().value else {
            throw StorageError(.cancelled, "The call was cancelled.")
        }
        try result.get()
    }

    /// Waits for queued writes until `deadline`, but not while the network is switched off.
    package func drain(within deadline: Duration) async {
        guard await engine.isSending else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await self.waitForPendingWrites() }
            group.addTask { try? await self.clock.sleep(for: deadline) }
            await group.next()
            group.cancelAll()
        }
    }

    public func snapshotsInSync() -> EventStream<Void, StorageError> {
        EventStream { [self] continuation in
            let id = newID()
            return visit {
                await $0.addInSync(id, continuation)
            } leave: {
                await $0.removeInSync(id)
            }
        }
    }

    public func pendingWrites() -> SnapshotStream<[PendingWrite], StorageError> {
        SnapshotStream { [self] continuation in
            let id = newID()
            return visit {
                await $0.watchQueue(id, continuation)
            } leave: {
                await $0.leaveQueue(id)
            }
        }
    }

    public func syncStatus() -> SnapshotStream<SyncStatus, Never> {
        SnapshotStream { [self] continuation in
            let id = newID()
            return visit {
                await $0.watchStatus(id, continuation)
            } leave: {
                await $0.leaveStatus(id)
            }
        }
    }

    public func refusedWrites() -> SnapshotStream<[RefusedWrite], StorageError> {
        SnapshotStream { [self] continuation in
            let id = newID()
            return visit {
                await $0.watchRefusals(id, continuation)
            } leave: {
                await $0.leaveRefusals(id)
            }
        }
    }

    public func cancelPendingWrite(_ id: PendingWrite.ID) async throws(StorageError) -> Bool {
        await session?.catchUp()
        return try await engine.cancelWrite(id)
    }

    /// Takes a write out of the queue even if it was sent before and the server may have carried it out. Only while the network is
    /// switched off, so that no answer can arrive: for tools with which someone repairs a queue.
    ///
    /// - Returns: `false` if it has left the queue, or the network is on.
    package func dropPendingWrite(_ id: PendingWrite.ID) async throws(StorageError) -> Bool {
        await session?.catchUp()
        return try await engine.dropWrite(id)
    }

    public func retryPendingWrites() async throws(StorageError) {
        await session?.catchUp()
        try await engine.handle(.retryWrites)
    }

    public func resolveRefusedWrite(
        _ id: RefusedWrite.ID, requeuing batch: WriteBatch?
    ) async throws(StorageError) {
        if let batch {
            try checkBatch(batch)
            if let write = batch.writes.first(where: {
                driver.isProvisional($0.path) && !driver.findsAddition(of: $0.path)
            }) {
                throw .unsupported(
                    "queueing the addition of “\(write.path)”, whose name the server makes", by: provider,
                    instead: "Add it again with a connection, and drop the rejected write.")
            }
        }
        var owner: QueueOwner?
        if let session { owner = QueueOwner(try await session.catchUpToWrite()) }
        try await engine.resolveRefused(id, requeuing: batch?.writes, of: owner)
    }

    public func clearPersistence() async throws(StorageError) { try await engine.clear() }

    /// Deletes the cache and one user's queue. Open streams see their results disappear and start over.
    ///
    /// For a user who signs out with that option. The queues of other users stay; use ``SyncStorage/wipe(of:)`` for a folder
    /// that no client is using.
    ///
    /// - Parameter userID: The user whose queue to delete; by default, the current one.
    /// - Throws: `.localStore` if the device refuses; then nothing has been deleted.
    public func wipe(of userID: String? = nil) async throws(StorageError) {
        try await engine.wipe(of: userID.map { QueueOwner($0) })
    }
}

extension SyncEngine {
    /// Whether a sendable write is waiting. Opens nothing.
    fileprivate var isSending: Bool { isOpen && isNetworkEnabled && (try? machine().hasQueue()) == true }

    /// For all users. Opens nothing.
    var writeCountInMemory: Int? { (openMachine?.store as? MemoryStore)?.batchCount }

    /// What waits in memory only ends with the client.
    func reportLostWrites(_ count: Int) {
        report(
            .notice(
                "\(count) queued write\(count == 1 ? " was" : "s were") lost when the client was shut down: without a state "
                    + "folder, the queue is in memory. Set one, or wait for waitForPendingWrites() first."))
    }

    func handle(_ event: SyncEvent) throws(StorageError) {
        _ = try machine()
        feed(event)
    }

    /// - Parameter expected: The expected owner of the queue; `nil` for any.
    func resolveRefused(
        _ id: String, requeuing writes: [DocumentWrite]?, of expected: QueueOwner?
    ) throws(StorageError) {
        guard expected == nil || expected == owner else { throw .writerLeft }
        let machine = try machine()
        try machine.resolveRefused(id, requeuing: writes, at: timestamp)
        perform(machine.takeActions())
    }
}

package import Foundation
package import Switchyard

/// The offline engine for whoever is signed in: as people come and go, so do their queues of writes.
package final class UserStorageClient: StorageLayer {
    private let synced: SyncedStorageClient
    package var base: any StorageClient { synced }
    private let follower: UserFollower?
    /// How long the end waits for writes that would be lost with the client.
    private static let drainDeadline = Duration.seconds(3)
    private let losesWrites: Bool

    /// - Parameters:
    ///   - driver: The server's side.
    ///   - folder: Where documents and queued writes are kept; `nil` to have them gone with the client.
    ///   - cacheBytes: Above about this size, what was not used for longest is dropped.
    ///   - context: Whose session it is, and time.
    package init(driver: any SyncDriver, folder: URL?, cacheBytes: Int64, context: ModuleContext) async {
        losesWrites = folder == nil
        let auth = context.auth
        let state = await auth?.state
        synced = SyncedStorageClient(
            driver: driver, storage: folder.map { .folder($0, maximumBytes: cacheBytes) } ?? .memory,
            userID: state?.user?.id, clock: context.clock, now: context.now, observer: context.observer)
        if let auth, let state {
            let follower = UserFollower(auth, synced, context, known: state)
            synced.setEntry { [weak follower] in await follower?.catchUp() }
            self.follower = follower
        } else {
            follower = nil
        }
        await follower?.start()
    }

    package func snapshot(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        await follower?.catchUp()
        return try await synced.snapshot(path, from: source)
    }

    package func snapshots(
        of paths: [StoragePath], from source: ReadSource
    ) async throws(StorageError) -> [DocumentSnapshot] {
        await follower?.catchUp()
        return try await synced.snapshots(of: paths, from: source)
    }

    package func results(of query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        await follower?.catchUp()
        return try await synced.results(of: query, from: source)
    }

    package func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        await follower?.catchUp()
        return try await synced.commit(batch)
    }

    package func waitForPendingWrites() async throws(StorageError) {
        await follower?.catchUp()
        try await synced.waitForPendingWrites()
    }

    package func cancelPendingWrite(_ id: PendingWrite.ID) async throws(StorageError) -> Bool {
        await follower?.catchUp()
        return try await synced.cancelPendingWrite(id)
    }

    package func resolveRefusedWrite(
        _ id: RefusedWrite.ID, requeuing batch: WriteBatch?
    ) async throws(StorageError) {
        await follower?.catchUp()
        try await synced.resolveRefusedWrite(id, requeuing: batch)
    }

    /// Without a folder, writes that wait are lost with the client; they get a moment to reach the server then.
    package func shutDown() async {
        await follower?.stop()
        if losesWrites { await synced.drain(within: Self.drainDeadline) }
        await synced.shutDown()
    }
}

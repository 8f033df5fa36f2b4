package import Foundation
package import Switchyard

/// The offline engine for whoever is signed in: as people come and go, so do their queues of writes.
package final class UserStorageClient: StorageLayer, SignInFollowing {
    private let synced: SyncedStorageClient
    package var base: any StorageClient { synced }
    private let follower: UserFollower?
    /// How long the end waits for writes that would be lost with the client.
    private static let drainDeadline = Duration.seconds(3)
    private let losesWrites: Bool
    private let claim: StoreClaim?

    /// - Parameters:
    ///   - driver: The server's side.
    ///   - folder: Where documents and queued writes are kept; `nil` to have them gone with the client.
    ///   - cacheBytes: Above about this size, what was not used for longest is dropped.
    ///   - context: Whose session it is, and time.
    /// - Throws: `.locked` while another client has the folder. A folder that cannot be used for another reason is told of by the
    ///   first call that needs it.
    package init(
        driver: any SyncDriver, folder: URL?, cacheBytes: Int64, context: ModuleContext
    ) async throws(InfrastructureError) {
        losesWrites = folder == nil
        let claim = try folder.flatMap { folder throws(InfrastructureError) in try Self.claim(folder) }
        self.claim = claim
        let auth = context.auth
        let state = await auth?.state
        synced = SyncedStorageClient(
            driver: driver, storage: folder.map { .folder($0, maximumBytes: cacheBytes) } ?? .memory, claim: claim,
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

    private static func claim(_ folder: URL) throws(InfrastructureError) -> StoreClaim? {
        do throws(StorageError) {
            return try StoreClaim(folder)
        } catch {
            guard error.underlying is StoreIsLocked else { return nil }
            throw InfrastructureError(.locked, error.message, underlying: error)
        }
    }

    /// Deletes what is kept in a folder of which no client is there: the cache, and what one user has queued.
    ///
    /// - Parameter userID: Whose; that of who was there last when left out.
    package static func wipe(_ folder: URL, of userID: String?) throws(InfrastructureError) {
        do throws(StorageError) {
            try SyncStorage.folder(folder).wipe(of: userID)
        } catch {
            throw InfrastructureError(
                error.underlying is StoreIsLocked ? .locked : .localStore, error.message, underlying: error)
        }
    }

    package func catchUp() async { await follower?.catchUp() }

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
        guard let follower else { return try await synced.commit(batch) }
        let owner = try await follower.catchUpToWrite()
        do throws(StorageError) {
            return try await synced.commit(batch, of: owner)
        } catch {
            // Somebody may have come, or only have been forgotten meanwhile.
            guard error.code == .sessionChanged, try await follower.catchUpToWrite() == owner else { throw error }
            return try await synced.commit(batch, of: owner)
        }
    }

    package func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        try await follower?.catchUpToWrite()
        return try await synced.deleteRecursively(document, progress: progress)
    }

    package func aggregate(
        _ query: Query, _ aggregations: [Aggregation]
    ) async throws(StorageError) -> [DocumentValue] {
        await follower?.catchUp()
        return try await synced.aggregate(query, aggregations)
    }

    package func enableNetwork() async throws(StorageError) {
        await follower?.catchUp()
        try await synced.enableNetwork()
    }

    package func retryPendingWrites() async throws(StorageError) {
        await follower?.catchUp()
        try await synced.retryPendingWrites()
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
        try await follower?.catchUpToWrite()
        try await synced.resolveRefusedWrite(id, requeuing: batch)
    }

    /// Without a folder, writes that wait are lost with the client; they get a moment to reach the server then.
    package func shutDown() async {
        await follower?.stop()
        if losesWrites { await synced.drain(within: Self.drainDeadline) }
        await synced.shutDown()
        claim?.release()
    }
}

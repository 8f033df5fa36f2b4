import FirestoreFormat
public import Switchyard
import SwitchyardSync

/// Documents in Cloud Firestore: reads, queries and commits by single calls, all live queries over one stream, with a cache
/// and a queue of writes on this device.
///
/// Each signed-in user has a queue of writes of their own. Nothing of one user's is ever sent with the token of another.
public final class FirebaseStorageAdapter: StorageLayer {
    let synced: SyncedStorageClient
    public var base: any StorageClient { synced }
    private let follower: UserFollower?
    /// How long the end waits for writes that would be lost with the client.
    private static let drainDeadline = Duration.seconds(3)
    private let losesWrites: Bool

    init(_ surroundings: FirebaseSurroundings) async throws(InfrastructureError) {
        let configuration = surroundings.configuration
        let database = FirestoreDatabase(project: configuration.project, database: configuration.database)
        let driver = FirestoreDriver(
            service: FirestoreService(database, surroundings), ledger: configuration.writeLedger,
            locksInTransactions: configuration.locksInTransactions, clock: surroundings.context.clock)
        let folder = configuration.keepsDocuments ? try surroundings.folder("documents") : nil
        losesWrites = folder == nil
        let auth = surroundings.context.auth
        let state = await auth?.state
        synced = SyncedStorageClient(
            driver: driver,
            storage: folder.map { .folder($0, maximumBytes: configuration.cacheBytes) } ?? .memory,
            userID: state?.user?.id, clock: surroundings.context.clock,
            now: surroundings.context.now)
        if let auth, let state {
            follower = UserFollower(auth, synced, surroundings.context, known: state)
        } else {
            follower = nil
        }
        await follower?.start()
    }

    public func snapshot(_ path: StoragePath, from source: ReadSource) async throws(StorageError) -> DocumentSnapshot {
        await follower?.catchUp()
        return try await synced.snapshot(path, from: source)
    }

    public func snapshots(
        of paths: [StoragePath], from source: ReadSource
    ) async throws(StorageError) -> [DocumentSnapshot] {
        await follower?.catchUp()
        return try await synced.snapshots(of: paths, from: source)
    }

    public func results(of query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        await follower?.catchUp()
        return try await synced.results(of: query, from: source)
    }

    public func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        await follower?.catchUp()
        return try await synced.commit(batch)
    }

    /// Without a folder, writes that wait are lost with the client; they get a moment to reach the server then.
    public func shutDown() async {
        await follower?.stop()
        if losesWrites { await synced.drain(within: Self.drainDeadline) }
        await synced.shutDown()
    }
}

public import Switchyard
import SwitchyardFirestoreFormat
import SwitchyardSync

/// Documents in Cloud Firestore: reads, queries and commits by single calls, all live queries over one stream, with a cache
/// and a queue of writes on this device.
///
/// Each signed-in user has a queue of writes of their own. Nothing of one user's is ever sent with the token of another.
public final class FirebaseStorageAdapter: StorageLayer {
    private let documents: SyncedStorageClient
    public var base: any StorageClient { documents }

    init(_ surroundings: FirebaseSurroundings) async throws(InfrastructureError) {
        let configuration = surroundings.configuration
        let database = FirestoreDatabase(project: configuration.project, database: configuration.database)
        let driver = FirestoreDriver(
            service: FirestoreService(database, surroundings), ledger: configuration.writeLedger,
            locksInTransactions: configuration.locksInTransactions, isProject: configuration.credential != nil,
            clock: surroundings.context.clock)
        documents = try await SyncedStorageClient(
            driver: driver, folder: configuration.keepsDocuments ? try FirestoreFolder.make(surroundings) : nil,
            cacheBytes: configuration.cacheBytes, context: surroundings.context)
    }
}

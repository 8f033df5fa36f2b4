import Switchyard
import SwitchyardFirestoreFormat
import SwitchyardSync

extension FirebaseSurroundings {
    /// Documents in Cloud Firestore: reads, queries and commits by single calls, all live queries over one stream, with a cache
    /// and a queue of writes on this device.
    ///
    /// Each signed-in user has a queue of writes of their own. Nothing of one user's is ever sent with the token of another.
    func makeStorageClient() async throws(InfrastructureError) -> SyncedStorageClient {
        let driver = FirestoreDriver(
            service: FirestoreService(
                FirestoreDatabase(project: configuration.project, database: configuration.database), self),
            ledger: configuration.writeLedger, locksInTransactions: configuration.locksInTransactions,
            isProject: configuration.credential != nil, clock: context.clock)
        return try await SyncedStorageClient(
            driver: driver, folder: configuration.keepsDocuments ? try FirestoreFolder.make(self) : nil,
            cacheBytes: configuration.cacheBytes, context: context)
    }
}

import Switchyard
import SwitchyardFirestoreFormat
public import SwitchyardSync

/// Documents in Cloud Firestore: the client that ``FirebaseModule`` makes.
///
/// It is the offline client of `SwitchyardSync`, which works on other servers, too: check `provider` as well when you unwrap
/// one.
public typealias FirebaseStorageAdapter = SyncedStorageClient

extension FirebaseContext {
    /// Documents in Cloud Firestore: one-shot calls for reads, queries and commits, one stream for all live queries, with a
    /// cache and a queue of writes on this device.
    ///
    /// Each signed-in user has a separate queue of writes. Data of one user is never sent with the token of another.
    func makeStorageClient() async throws(InfrastructureError) -> FirebaseStorageAdapter {
        let driver = FirestoreDriver(
            service: FirestoreService(
                FirestoreDatabase(project: configuration.project, database: configuration.database), self),
            ledger: configuration.writeLedger, locksInTransactions: configuration.locksInTransactions,
            isProject: configuration.credential != nil, clock: module.clock)
        return try await SyncedStorageClient(
            driver: driver, folder: configuration.keepsDocuments ? try FirestoreFolder.make(self) : nil,
            cacheBytes: configuration.cacheBytes, context: module)
    }
}

import Switchyard
import SwitchyardBytes

extension SyncDriver {
    /// Carries out a batch with a provisional document at once.
    func add(_ batch: WriteBatch, userID: String?) async throws(StorageError) -> WriteReceipt {
        guard batch.writes.count == 1 else {
            throw .unsupported(
                "a batch with a document whose name the server makes", by: provider,
                instead: "Add documents of “\(batch.writes.first?.path.collection.rawValue ?? "")” one by one.")
        }
        let id = RandomID.make()
        var (document, result) = try await add(
            OutgoingBatch(id: id, writes: batch.writes, mayHaveBeenSent: false, userID: userID))
        result.added = document
        return WriteReceipt(batchID: id, acknowledged: result.acknowledgement(of: batch), added: document)
    }
}

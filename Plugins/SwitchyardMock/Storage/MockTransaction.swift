import Switchyard
import SwitchyardBytes

/// One attempt at a transaction: reads see committed documents, and preconditions of the commit detect all conflicts.
struct MockTransaction: StorageTransactionBackend {
    let client: MockStorageClient
    /// The user who began it; it never continues for another one.
    let owner: String

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot] {
        let subject = paths.map(\.rawValue).joined(separator: ", ")
        if !client.controls.isQuiet, let scripted = try await client.controls.enter(.transactionRead, subject) {
            return scripted
        }
        return try client.database.withState {
            [device = client.device] state -> Result<[DocumentSnapshot], StorageError> in
            if let refusal = refusal(device) { return .failure(refusal) }
            for path in paths {
                if let refusal = device.refusal(toGet: path, state.documents) { return .failure(refusal) }
            }
            return .success(paths.map { state.documents[$0] ?? .missing($0) })
        }.get()
    }

    func commit(_ writes: [DocumentWrite]) async throws(StorageError) -> WriteReceipt.Acknowledgement {
        let controls = client.controls
        let subject = WriteBatch(writes).subject
        if !controls.isQuiet, let scripted = try await controls.enter(.transactionCommit, subject) { return scripted }
        let now = client.database.now()
        let answer = try client.database.change { [device = client.device] state throws(StorageError) in
            if let refusal = refusal(device) { throw refusal }
            let (answer, actions) = try state.commit(writes, id: RandomID.make(), at: now, by: device)
            return (answer, actions)
        }
        client.backend.save(client.device)
        try controls.leave()
        return answer
    }

    private func refusal(_ device: MockDevice) -> StorageError? {
        if let refusal = device.refusal(of: .server) { return refusal }
        guard device.queue.owner != owner else { return nil }
        return StorageError(
            .sessionChanged,
            "The transaction was stopped because the user who began it is no longer signed in. Begin it again.",
            isRetryable: false)
    }
}

extension StorageClient {
    /// This client, with writes that may be merged while they wait: for what changes faster than it can be sent, such as a text
    /// while someone types.
    ///
    /// ```swift
    /// let note = storage.mergingWaitingWrites().collection("notes", of: Note.self).document(id)
    /// try await note.update(\.text, to: text)       // after each key
    /// ```
    /// Each write sets ``WriteBatch/mergesWaiting``. A client without a queue sends every one of them.
    public func mergingWaitingWrites() -> any StorageClient { MergingStorageClient(base: self) }
}

private struct MergingStorageClient: StorageClientWrapper {
    let base: any StorageClient

    func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        var batch = batch
        batch.mergesWaiting = true
        return try await base.commit(batch)
    }
}

extension WriteBatch {
    /// The batch that stands for both, queued in place of `earlier`; `nil` unless both may be merged and are sets or patches of
    /// one document, without transforms.
    package func merged(over earlier: WriteBatch) -> WriteBatch? {
        guard mergesWaiting, earlier.mergesWaiting, count == 1, earlier.count == 1,
            let write = writes[0].merged(over: earlier.writes[0])
        else { return nil }
        var batch = WriteBatch([write])
        batch.mergesWaiting = true
        return batch
    }
}

extension DocumentWrite {
    /// The write that leaves what `earlier` and then this one leave; `nil` if there is none for every state of the document.
    package func merged(over earlier: DocumentWrite) -> DocumentWrite? {
        guard path == earlier.path, transforms.isEmpty, earlier.transforms.isEmpty else { return nil }
        let operation: Operation
        switch (earlier.operation, self.operation) {
        case (.set, .set), (.patch, .set):
            guard precondition == .none else { return nil }
            return self
        case (.set(let data), .patch):
            guard earlier.precondition == .none, precondition == .none || precondition == .exists(true) else {
                return nil
            }
            operation = .set(applied(to: data, serverTime: .distantPast).data ?? data)
        case (.patch(let data, let mask), .patch(let newData, let newMask)):
            // Setting a nested field and removing it leaves the map around it, which removing it alone does not make.
            let removed = newMask.filter { $0.components.count > 1 && newData[$0] == nil }
            guard !removed.contains(where: { gone in mask.contains { $0.isWithin(gone) && data[$0] != nil } }) else {
                return nil
            }
            // After a merge there is a document, so that an update of it is certain; an update decides only about updates.
            guard
                earlier.precondition == .none
                    ? precondition == .none || precondition == .exists(true)
                    : earlier.precondition == .exists(true) && precondition == .exists(true)
            else { return nil }
            let all = applied(to: data, serverTime: .distantPast).data ?? data
            let union =
                mask.filter { old in !newMask.contains { old.isWithin($0) } }
                + newMask.filter { new in !mask.contains { new.isWithin($0) && new != $0 } }
            var fields = DocumentData()
            for field in union { fields[field] = all[field] }
            operation = .patch(fields, mask: union)
        default: return nil
        }
        let merged = DocumentWrite(path: path, operation: operation, precondition: earlier.precondition)
        return (try? DocumentLimits.check(merged)) == nil ? nil : merged
    }
}

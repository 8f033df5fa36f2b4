import Switchyard

extension QueuedBatch {
    /// The cached document once the server has accepted this batch.
    ///
    /// - Parameter places: The indexes of the writes to the document.
    func committed(
        over cached: CachedDocument?, at path: StoragePath, _ places: [Int], version: Timestamp, result: CommitResult
    ) -> CachedDocument {
        var document = cached
        for index in places {
            let given = index < result.transformResults.count ? result.transformResults[index] : nil
            switch result.outcome(ofWrite: index) {
            case .asSent:
                document = writes[index].committed(
                    over: document, version: version, commitTime: result.commitTime, transformResults: given)
            case .returned(let snapshot, let tag):
                document = CachedDocument(
                    path: path, state: snapshot.exists ? .found : .missing, data: snapshot.data,
                    createTime: snapshot.createTime ?? document?.createTime, version: version,
                    readTime: result.commitTime, hasCommittedMutations: true, tag: snapshot.exists ? tag : nil)
            case .unknown:
                document = CachedDocument(
                    path: path, state: .unknown, createTime: document?.createTime, version: version,
                    readTime: result.commitTime, hasCommittedMutations: true)
            }
        }
        return document ?? .missing(path, version: version)
    }
}

extension CommitResult {
    /// The version that the server gave a document with a write.
    func version(ofWrite index: Int) -> Timestamp {
        index < updateTimes.count ? updateTimes[index] ?? commitTime : commitTime
    }

    /// The result for the caller who made the batch.
    func acknowledgement(of batch: WriteBatch) -> WriteReceipt.Acknowledgement {
        acknowledgement(deletions: batch.writes.map { $0.operation == .delete })
    }

    /// - Parameter deletions: For each write, whether it is a deletion.
    func acknowledgement(deletions: [Bool]) -> WriteReceipt.Acknowledgement {
        let times = deletions.enumerated().map { $1 ? nil : version(ofWrite: $0) }
        return WriteReceipt.Acknowledgement(commitTime: commitTime, updateTimes: times, added: added)
    }
}

extension DocumentWrite {
    fileprivate func committed(
        over cached: CachedDocument?, version: Timestamp, commitTime: Timestamp, transformResults: [DocumentValue]?
    ) -> CachedDocument? {
        let state: CachedDocument.State
        var data: DocumentData?
        switch operation {
        case .verify: return cached
        case .delete: state = .missing
        case .set, .patch:
            if case .patch = operation, !holds(for: cached) {
                // The server had the document, but this device did not.
                state = .unknown
                break
            }
            let before = cached?.state == .found ? cached?.data : nil
            data = applied(to: before, serverTime: commitTime).data
            if let transformResults, transformResults.count == transforms.count {
                for (transform, value) in zip(transforms, transformResults) where transform.operation.hasResult {
                    data?[transform.field] = value
                }
            }
            state = .found
        }
        return CachedDocument(
            path: path, state: state, data: data, createTime: cached?.createTime, version: version,
            readTime: commitTime, hasCommittedMutations: true)
    }

    private func holds(for cached: CachedDocument?) -> Bool {
        switch precondition {
        case .none: true
        case .exists(let exists): exists == (cached?.state == .found)
        case .updateTime(let time): cached?.state == .found && cached?.version == time
        }
    }
}

extension FieldTransform.Operation {
    /// Servers do not return the result of an array transform, so it is computed from the value before.
    fileprivate var hasResult: Bool {
        switch self {
        case .arrayUnion, .arrayRemove: false
        case .serverTime, .increment, .maximum, .minimum: true
        }
    }
}

/// A result that may carry a server's error instead of throwing it.
protocol ErrorCarrying: Sendable {
    /// The same result, with the operation at the beginning of the error's message.
    func named(_ operation: ClientOperation) -> Self
}

extension SnapshotMetadata {
    fileprivate func named(_ operation: ClientOperation) -> SnapshotMetadata {
        guard let error = serverError else { return self }
        return SnapshotMetadata(
            isFromCache: isFromCache, localState: localState, serverError: error.named(operation))
    }
}

extension DocumentSnapshot: ErrorCarrying {
    func named(_ operation: ClientOperation) -> DocumentSnapshot {
        metadata.serverError == nil ? self : with(metadata.named(operation))
    }
}

extension QuerySnapshot: ErrorCarrying {
    func named(_ operation: ClientOperation) -> QuerySnapshot {
        guard metadata.serverError != nil else { return self }
        let metadata = metadata.named(operation)
        guard isOneTime else { return with(metadata) }
        return QuerySnapshot(
            query: query, documents: documents.map { $0.named(operation) }, metadata: metadata, cut: cut)
    }
}

extension Array: ErrorCarrying where Element: ErrorCarrying {
    func named(_ operation: ClientOperation) -> [Element] { map { $0.named(operation) } }
}

/// Names the commit that was refused, not the call that lists it.
extension RefusedWrite: ErrorCarrying {
    func named(_: ClientOperation) -> RefusedWrite {
        RefusedWrite(id: id, batch: batch, refusedAt: refusedAt, error: error.named(batch.operation))
    }
}

extension WriteReceipt: ErrorCarrying {
    func named(_ operation: ClientOperation) -> WriteReceipt {
        if case .acknowledged = present { return self }
        var named: (@Sendable () -> EventStream<State, Never>)?
        if let makeStates { named = { makeStates().mapElements { $0.named(operation) } } }
        var receipt = WriteReceipt(
            batchID, present: present?.named(operation), lastFailure: lastFailure, makeStates: named
        ) {
            do throws(StorageError) {
                return .success(try await acknowledged())
            } catch {
                return .failure(error.named(operation))
            }
        }
        receipt.subject = operation.subject
        return receipt
    }
}

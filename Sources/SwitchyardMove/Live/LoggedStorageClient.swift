import Switchyard
import SwitchyardBytes

/// One side's storage, whose writes are logged in the same batch, so that none can take effect unlogged.
struct LoggedStorageClient: StorageClientWrapper {
    let base: any StorageClient
    let side: MoveSide
    let log: MoveLog
    let feed: PhaseFeed

    var capabilities: StorageCapabilities {
        var capabilities = base.capabilities
        // The entry, and the control document where the phase is checked.
        capabilities.maximumBatchSize = capabilities.maximumBatchSize.map { max(1, $0 - MoveLog.documents - 1) }
        return capabilities
    }

    func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        try checkBatch(batch)
        return try await base.commit(try logged(batch)).withoutEntry(of: batch)
    }

    private func logged(_ batch: WriteBatch) throws(StorageError) -> WriteBatch {
        let depends = batch.writes.contains(where: \.needsVersion)
        var logged = WriteBatch(batch.writes + (try log.entry(for: batch.writes, isState: depends)))
        // A version holds on this side only: such a batch must not be carried out after the other side has begun to serve.
        if depends, let precondition = feed.precondition(on: side) {
            logged.append(DocumentWrite(path: log.layout.control, operation: .verify, precondition: precondition))
        }
        return logged
    }

    // MARK: Transactions

    /// Each attempt reads the control document, so that its commit fails if the phase has changed in between.
    func transaction<Result: Sendable>(
        _ options: TransactionOptions, _ body: @Sendable (StorageTransaction) async throws -> Result
    ) async throws(StorageError) -> Result {
        try await base.transaction(options) { transaction in
            try checkServing(try await transaction.document(log.layout.control))
            let result = try await body(transaction)
            let writes = await transaction.pendingWrites
            if !writes.isEmpty {
                for entry in try log.entry(for: writes, isState: true) { try await transaction.add(entry) }
            }
            return result
        }
    }

    func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        let backend = try await base.makeTransaction()
        do throws(StorageError) {
            let control = try await backend.documents([log.layout.control])[0]
            try checkServing(control)
            return LoggedTransaction(backend: backend, log: log, control: control)
        } catch {
            await backend.rollBack()
            throw error
        }
    }

    private func checkServing(_ document: DocumentSnapshot) throws(StorageError) {
        feed.note(document, side)
        let control = feed.control
        guard control.phase.serving == side, !control.isClosing else {
            throw StorageError(
                .aborted, "The move “\(log.layout.name)” changes the backend that serves.",
                isRetryable: false, underlying: ServedElsewhere())
        }
    }

    func deleteRecursively(
        _ document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        // With this client, so that each deletion is logged.
        try await deleteInBatches(document, progress: progress)
    }

    // MARK: The queue, as the app knows it

    func pendingWrites() -> SnapshotStream<[PendingWrite], StorageError> {
        base.pendingWrites().mapElements { [log] pending in
            pending.compactMap { write in
                let batch = log.without(write.batch)
                guard !batch.isEmpty else { return nil }
                return PendingWrite(
                    id: write.id, batch: batch, queuedAt: write.queuedAt, attempts: write.attempts,
                    lastError: write.lastError, nextAttempt: write.nextAttempt)
            }
        }
    }

    func refusedWrites() -> SnapshotStream<[RefusedWrite], StorageError> {
        base.refusedWrites().mapElements { [log] refused in
            refused.compactMap { write in
                let batch = log.without(write.batch)
                guard !batch.isEmpty else { return nil }
                return RefusedWrite(id: write.id, batch: batch, refusedAt: write.refusedAt, error: write.error)
            }
        }
    }

    func resolveRefusedWrite(_ id: RefusedWrite.ID, requeuing batch: WriteBatch?) async throws(StorageError) {
        var requeued: WriteBatch?
        if let batch {
            try checkBatch(batch)
            requeued = try logged(batch)
        }
        try await base.resolveRefusedWrite(id, requeuing: requeued)
    }
}

/// The underlying error of a transaction on a side which no longer serves, or will not for long.
struct ServedElsewhere: Error {}

/// A transaction attempt that logs what it commits.
private struct LoggedTransaction: StorageTransactionBackend {
    let backend: any StorageTransactionBackend
    let log: MoveLog
    let control: DocumentSnapshot

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot] {
        try await backend.documents(paths)
    }

    func commit(_ writes: [DocumentWrite]) async throws(StorageError) -> WriteReceipt.Acknowledgement {
        let fence = DocumentWrite(
            path: log.layout.control, operation: .verify,
            precondition: control.updateTime.map { .updateTime($0) } ?? .exists(false))
        let acknowledgement = try await backend.commit(writes + (try log.entry(for: writes, isState: true)) + [fence])
        return acknowledgement.first(writes.count)
    }

    func rollBack() async { await backend.rollBack() }
}

extension DocumentWrite {
    fileprivate var needsVersion: Bool { if case .updateTime = precondition { true } else { false } }
}

extension MoveLog {
    /// The batch as the app committed it.
    fileprivate func without(_ batch: WriteBatch) -> WriteBatch {
        WriteBatch(batch.writes.filter { !isEntry($0) && $0.path != layout.control })
    }
}

extension WriteReceipt {
    fileprivate func withoutEntry(of batch: WriteBatch) -> WriteReceipt {
        let count = batch.count
        return mapAcknowledgement { $0.first(count) }
    }
}

extension WriteReceipt.Acknowledgement {
    fileprivate func first(_ count: Int) -> WriteReceipt.Acknowledgement {
        WriteReceipt.Acknowledgement(
            commitTime: commitTime, updateTimes: Array(updateTimes.prefix(count)), added: added)
    }
}

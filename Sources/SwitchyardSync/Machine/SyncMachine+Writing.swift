import Switchyard

extension SyncMachine {
    /// - Parameter mergeable: Whether the next batch may be merged with this one.
    func write(_ token: Int, _ writes: [DocumentWrite], at time: Timestamp, mergeable: Bool = false) {
        do throws(StorageError) {
            try checkOwner()
            let (batch, changes) = try local.write(writes, as: makeName(), at: time)
            queued(batch, token)
            if mergeable { lastMergeable = batch.number }
            raise(changes)
            fillPipeline()
        } catch {
            emit(.writeFinished(token, .failure(error)))
        }
    }

    /// Queues a batch in place of the last one, with the effect of both, if the last one has not been sent and allows it.
    func writeMerging(_ token: Int, _ writes: [DocumentWrite], at time: Timestamp) {
        do throws(StorageError) {
            try checkOwner()
            guard let (last, merged) = try merged(writes) else {
                return write(token, writes, at: time, mergeable: true)
            }
            let (batch, changes) = try local.replace(last, by: [merged], as: makeName())
            pipeline.removeAll { $0.number == last.number }
            ahead.removeAll { $0.number == last.number }
            // Who waits for the earlier write waits for this one.
            for index in waiting.queue.indices where waiting.queue[index].number == last.number {
                waiting.queue[index].number = batch.number
            }
            emit(.queueChanged(.left(last)))
            queued(batch, token)
            if let earlier = waiting.writes.removeValue(forKey: last.number) {
                emit(.writeSuperseded(earlier.token, by: batch.id))
            }
            lastMergeable = batch.number
            raise(changes)
            fillPipeline()
        } catch {
            emit(.writeFinished(token, .failure(error)))
        }
    }

    private func queued(_ batch: QueuedBatch, _ token: Int) {
        waiting.writes[batch.number] = WriteToken(token: token, owner: local.owner)
        emit(.writeQueued(token, id: batch.id))
        emit(.queueChanged(.added(batch)))
    }

    private func merged(
        _ writes: [DocumentWrite]
    ) throws(StorageError) -> (last: QueuedBatch, write: DocumentWrite)? {
        guard writes.count == 1, undone.isEmpty, let number = lastMergeable, number > sentUpTo,
            try local.highestBatchNumber() == number, let last = try local.batch(number), last.writes.count == 1,
            last.provisional.isEmpty, let write = writes[0].merged(over: last.writes[0])
        else { return nil }
        return (last, write)
    }

    func wait(_ token: Int) {
        do throws(StorageError) {
            try checkOwner()
            if let number = try local.highestBatchNumber() {
                waiting.queue.append((token, number))
            } else {
                emit(.waitFinished(token, .success(())))
            }
        } catch {
            emit(.waitFinished(token, .failure(error)))
        }
    }

    func finish(_ batch: QueuedBatch, _ result: Result<CommitResult, StorageError>) {
        if let write = waiting.writes.removeValue(forKey: batch.number) { emit(.writeFinished(write.token, result)) }
        guard !waiting.queue.isEmpty else { return }
        let first: Int
        do throws(StorageError) {
            // The batches in flight are the first of the queue.
            if let next = pipeline.first {
                first = next.number
            } else {
                first = try local.batches(limit: 1).first?.number ?? .max
            }
        } catch {
            first = batch.number + 1  // the queue is answered in order
        }
        for wait in waiting.queue where wait.number < first { emit(.waitFinished(wait.token, .success(()))) }
        waiting.queue.removeAll { $0.number < first }
    }

    // MARK: The pipeline

    /// A pending operation may be a change of user, or the end of a batch: nothing is sent until it is done.
    private var canSend: Bool { canUseNetwork && undone.isEmpty }

    func fillPipeline() {
        guard canSend else { return }
        var next: [QueuedBatch] = []
        while pipeline.count < maximumInFlight {
            if ahead.isEmpty {
                do throws(StorageError) {
                    ahead = try local.batches(after: pipeline.last?.number ?? 0, limit: 64)[...]
                } catch {
                    return waitForStore()
                }
            }
            guard let batch = ahead.first, !hasToWait(batch) else { break }
            ahead.removeFirst()
            pipeline.append(batch)
            next.append(batch)
        }
        if writer == .open { send(next) }
        if pipeline.isEmpty {
            if writer == .open { emit(.schedule(.writerIdle, .seconds(60))) }
        } else if !writer.isStarted {
            startWriter()
        }
    }

    /// Whether the answer to a batch in flight decides on what the next one is based, or has the name of its document.
    private func hasToWait(_ batch: QueuedBatch) -> Bool {
        if pipeline.contains(where: { $0.addition.map { batch.provisional.contains($0) } ?? false }) { return true }
        guard usesTags, !pipeline.isEmpty else { return false }
        let paths = batch.paths
        return pipeline.contains { $0.writes.contains { paths.contains($0.path) } }
    }

    private func send(_ batches: [QueuedBatch]) {
        guard usesTags, !batches.isEmpty else {
            for batch in batches { send(batch, mayHaveBeenSent: batch.number <= sentUpTo) }
            return
        }
        do throws(StorageError) {
            for prepared in try local.prepare(batches) {
                let mayHaveBeenSent = prepared.batch.number <= sentUpTo && !prepared.isFirstAttempt
                send(prepared.batch, mayHaveBeenSent: mayHaveBeenSent)
            }
        } catch {
            waitForStore()
        }
    }

    private func send(_ batch: QueuedBatch, mayHaveBeenSent: Bool) {
        sentUpTo = max(sentUpTo, batch.number)
        emit(.cancel(.writerIdle))
        emit(
            .sendWrite(
                OutgoingBatch(
                    id: batch.id, writes: batch.writes, mayHaveBeenSent: mayHaveBeenSent, userID: local.owner.userID,
                    bases: batch.bases ?? [], isAddition: batch.isAddition)))
    }

    // MARK: The stream

    private func startWriter() {
        guard canSend, !writer.isStarted, !pipeline.isEmpty else { return }
        if writerFailures == 0 {
            openWriter()
        } else {
            writer = .waiting
            emit(.schedule(.writerBackoff, .backoff(attempt: writerFailures, isOverloaded: isWriterOverloaded)))
        }
    }

    func openWriter() {
        writer = .opening
        emit(.openWriter)
    }

    func closeWriter() { stopWriter() }

    func stopWriter() {
        if writer == .open || writer == .opening { emit(.closeWriter) }
        writer = .stopped
        writerFailures = 0
        isWriterOverloaded = false
        pipeline = []
        ahead = []
        emit(.cancel(.writerBackoff))
        emit(.cancel(.writerIdle))
    }

    func writerOpened() {
        guard writer == .opening else { return }
        writer = .open
        send(pipeline)
    }

    func committed(_ result: CommitResult) {
        guard writer == .open, !pipeline.isEmpty else { return }
        writerFailures = 0
        isWriterOverloaded = false
        let batch = pipeline.removeFirst()
        let isDurable = endsGroup()
        attempt { [unowned self] () throws(StorageError) in
            if let old = batch.addition, let new = result.added {
                return try acknowledge(addition: batch, result, under: NewName(old: old, new: new))
            }
            let changes = try local.acknowledge(batch, result, isDurable: isDurable)
            finish(batch, .success(result))
            emit(.queueChanged(.left(batch)))
            raise(changes, returned: result.returned(by: batch.writes))
        }
        fillPipeline()
    }

    /// While a long queue is sent, only one of several acknowledgements waits for the disk. After a power failure, some
    /// batches are sent again, which the ledger detects; without a ledger, each acknowledgement waits.
    private func endsGroup() -> Bool {
        unsettled += 1
        guard !hasLedger || pipeline.isEmpty || unsettled >= 32 else { return false }
        unsettled = 0
        return true
    }

    func writerClosed(_ error: StorageError?, at time: Timestamp) {
        guard writer == .open || writer == .opening else { return }
        let wasOpen = writer == .open
        writer = .stopped
        emit(.cancel(.writerIdle))
        if let error {
            writerFailures += 1
            isWriterOverloaded = error.code == .resourceExhausted
            if wasOpen, let batch = pipeline.first {
                if error.isRefusal {
                    writerFailures = 0
                    pipeline.removeFirst()
                    refuse(batch, error, at: time)
                } else {
                    attempt { [unowned self] () throws(StorageError) in
                        guard let batch = try local.noteAttempt(on: batch.number, error: error.code) else { return }
                        emit(.queueChanged(.tried(batch)))
                    }
                }
            }
        }
        fillPipeline()
        startWriter()
    }

    private func refuse(_ batch: QueuedBatch, _ error: StorageError, at time: Timestamp) {
        let refused = RefusedBatch(batch, error, at: time)
        attempt { [unowned self] () throws(StorageError) in
            try reject(batch, keeping: refused, because: error, at: time)
        }
    }

    /// Takes a batch out of the queue, and what depends on it, which is kept among the refused batches.
    ///
    /// - Parameters:
    ///   - refused: The batch to keep, if the user has to decide about it.
    ///   - error: The answer to the one who waits for the batch.
    ///   - time: The present.
    func reject(
        _ batch: QueuedBatch, keeping refused: RefusedBatch?, because error: StorageError, at time: Timestamp
    ) throws(StorageError) {
        func consequence(for dependent: QueuedBatch) -> StorageError {
            .missingAddition(batch.addition ?? batch.writes[0].path, error.message, dependent.writes)
        }
        let rejection = try local.reject(batch, keeping: refused) { RefusedBatch($0, consequence(for: $0), at: time) }
        pipeline.removeAll { $0.number == batch.number }
        if rejection.dependents.isEmpty { ahead.removeAll { $0.number == batch.number } } else { ahead = [] }
        finish(batch, .failure(error))
        emit(.queueChanged(.left(batch)))
        if let refused { emit(.refusedChanged(new: refused)) }
        for dependent in rejection.dependents {
            let error = consequence(for: dependent)
            finish(dependent, .failure(error))
            emit(.queueChanged(.left(dependent)))
            emit(.refusedChanged(new: RefusedBatch(dependent, error, at: time)))
        }
        raise(rejection.changes)
    }
}

extension RefusedBatch {
    fileprivate init(_ batch: QueuedBatch, _ error: StorageError, at time: Timestamp) {
        self.init(
            id: batch.id, writes: batch.writes, refusedAt: time, code: error.code, message: error.message)
    }
}

import Switchyard

/// The caller that waits for the answer to a batch, and the user whose queue contains it.
package struct WriteToken: Sendable {
    let token: Int
    let owner: QueueOwner
}

/// The calls that wait for answers. They outlive the machine if their batches do.
package struct WaitingCalls: Sendable {
    /// By the number of the batch.
    var writes: [Int: WriteToken] = [:]
    /// Calls waiting until everything up to a number has been answered.
    var queue: [(token: Int, number: Int)] = []

    var tokens: Set<Int> { Set(writes.values.map(\.token) + queue.map(\.token)) }
}

/// The user's operations on the queue.
extension SyncMachine {
    func cancelWrite(_ id: String, at time: Timestamp) {
        attempt { [unowned self] () throws(StorageError) in
            guard let batch = try local.batches().first(where: { $0.id == id }), !isSent(batch) else { return }
            let error = StorageError(.cancelled, "The write was cancelled before it was sent.")
            try reject(batch, keeping: nil, because: error, at: time)
        }
    }

    /// Takes a write out of the queue that the server may have carried out. While the network is off, no answer to it can arrive.
    func dropWrite(_ id: String, at time: Timestamp) {
        guard !isNetworkEnabled else { return }
        attempt { [unowned self] () throws(StorageError) in
            guard let batch = try local.batches().first(where: { $0.id == id }) else { return }
            let error = StorageError(.cancelled, "The write was dropped. The server may have carried it out before.")
            try reject(batch, keeping: nil, because: error, at: time)
        }
    }

    /// Whether a batch is being sent, or was sent before.
    func isSent(_ batch: QueuedBatch) -> Bool { batch.number <= sentUpTo }

    func retryWrites() {
        writerFailures = 0
        if writer == .waiting {
            emit(.cancel(.writerBackoff))
            openWriter()
        } else {
            fillPipeline()
        }
    }

    /// - Throws: `.notFound`, or `.localStore`; then the rejected write is still there.
    func resolveRefused(
        _ id: String, requeuing writes: [DocumentWrite]?, at time: Timestamp
    ) throws(StorageError) {
        try checkOwner()
        let requeued = try local.resolveRefused(id, requeuing: writes, as: makeName(), at: time)
        emit(.refusedChanged())
        guard let (batch, changes) = requeued else { return }
        // The ledger is asked before it is sent.
        if batch.id == id { sentUpTo = max(sentUpTo, batch.number) }
        emit(.queueChanged(.added(batch)))
        raise(changes)
        fillPipeline()
    }
}

import Switchyard

/// Why the queue is stuck.
struct SendFailure: Sendable {
    /// The batch that was sent without an answer; the others wait for it.
    let batchID: String
    let error: StorageError
    var nextAttempt: Timestamp?

    func isSameCause(_ other: StorageError) -> Bool { error.code == other.code && error.message == other.message }
}

extension SyncEngine {
    /// Records a failed attempt to send, other than a refusal by the server.
    func noteTrouble(_ error: StorageError, sending batchID: String) {
        let isKnown = trouble?.isSameCause(error) == true
        trouble = SendFailure(batchID: batchID, error: error)
        guard !isKnown else { return }
        let count = (try? openMachine?.queue().count) ?? nil
        report(.pendingWrites(count: count ?? 1, failure: .init(error)))
    }

    /// Why the queue is not being sent, if so.
    func lastFailure() -> StorageError? { isNetworkEnabled ? trouble?.error : .networkSwitchedOff }

    func pendingWrite(_ batch: QueuedBatch) -> PendingWrite {
        guard isNetworkEnabled else {
            return PendingWrite(batch, SendFailure(batchID: batch.id, error: .networkSwitchedOff))
        }
        return PendingWrite(batch, trouble.flatMap { $0.batchID == batch.id ? $0 : nil })
    }
}

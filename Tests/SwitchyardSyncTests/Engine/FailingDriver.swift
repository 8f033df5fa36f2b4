import Switchyard
import SwitchyardConformance
import SwitchyardSync
import Synchronization

/// A model server behind a driver that says what a test wants it to say.
final class FailingDriver: ForwardingDriver {
    let base: ModelDriver
    /// Thrown by every commit, before anything is sent.
    let failure = Mutex<StorageError?>(nil)
    /// Thrown by every look into the ledger.
    let lookUpFailure = Mutex<StorageError?>(nil)
    /// Whether the answer of the next commit gets lost.
    let losesAnswer = Mutex(false)

    init(_ server: ModelServer) { base = ModelDriver(server) }

    func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
        if let failure = failure.withLock({ $0 }) { throw failure }
        let result = try await base.commit(batch)
        let isLost = losesAnswer.withLock { loses in
            defer { loses = false }
            return loses
        }
        if isLost { throw StorageError(.unavailable, "The answer was lost.") }
        return result
    }

    func result(of batch: OutgoingBatch) async throws(StorageError) -> CommitResult? {
        if let failure = lookUpFailure.withLock({ $0 }) { throw failure }
        return try await base.result(of: batch)
    }
}

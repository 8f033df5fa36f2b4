import SwitchyardBytes
import Synchronization

/// A receipt that keeps the client that took the write, until the answer is there or nobody is left to ask for it.
final class LeasedReceipt: Sendable {
    typealias Answer = Result<WriteReceipt.Acknowledgement, StorageError>

    private let receipt: WriteReceipt
    private let release: @Sendable () -> Void
    /// Kept, because the client may be gone when somebody asks again.
    private let known = Mutex<Answer?>(nil)

    init(_ receipt: WriteReceipt, release: @escaping @Sendable () -> Void) {
        self.receipt = receipt
        self.release = release
    }

    deinit { release() }

    func answer() async -> Answer {
        if let known = known.withLock({ $0 }) { return known }
        let answer: Answer
        do throws(StorageError) {
            answer = .success(try await receipt.acknowledged())
        } catch {
            answer = .failure(error)
            // Who stopped waiting has learnt nothing about the write.
            if Task.isCancelled { return answer }
        }
        known.withLock { $0 = answer }
        release()
        return answer
    }
}

extension WriteReceipt {
    /// The same receipt, which calls `release` once nobody needs the client that took the write any more.
    func leased(until release: @escaping @Sendable () -> Void) -> WriteReceipt {
        guard present == nil else {
            release()
            return self
        }
        let leased = LeasedReceipt(self, release: release)
        return WriteReceipt(batchID: batchID, lastFailure: lastFailure) { await leased.answer() }
    }
}

import SwitchyardBytes
import Synchronization

/// A receipt that keeps the client that took the write, until the answer is there or nobody is left to ask for it.
final class LeasedReceipt: Sendable {
    typealias Answer = Result<WriteReceipt.Acknowledgement, StorageError>

    private let receipt: WriteReceipt
    private let release: Once
    /// Kept, because the client may be gone when somebody asks again.
    private let known = Mutex<Answer?>(nil)

    init(_ receipt: WriteReceipt, release: Once) {
        self.receipt = receipt
        self.release = release
    }

    deinit { release.run() }

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
        release.run()
        return answer
    }
}

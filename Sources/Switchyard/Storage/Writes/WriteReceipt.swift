/// Proof that a write is safe on this side, and the way to learn what the server made of it.
///
/// A client without offline support has its answer when the receipt exists; one with a queue may get it much later.
public struct WriteReceipt: Sendable {
    /// What the server answered to a batch.
    public struct Acknowledgement: Sendable, Hashable {
        /// When the batch took effect on the server.
        public let commitTime: Timestamp
        /// For each write, the document's version after it; `nil` for deletions and for backends that do not tell.
        public let updateTimes: [Timestamp?]

        public init(commitTime: Timestamp, updateTimes: [Timestamp?]) {
            self.commitTime = commitTime
            self.updateTimes = updateTimes
        }
    }

    /// The batch's own name: the same in the queue of pending writes and in a provider's ledger.
    public let batchID: String
    /// The answer, where it was there with the receipt.
    let present: Acknowledgement?
    private let answer: @Sendable () async -> Result<Acknowledgement, StorageError>

    /// A write whose `answer` waits for the server; called once for each time somebody asks. It returns early with
    /// `.cancelled` when the asking task is cancelled; the write itself goes on.
    public init(batchID: String, answer: @escaping @Sendable () async -> Result<Acknowledgement, StorageError>) {
        self.init(batchID, present: nil, answer: answer)
    }

    /// A write that the server has answered already.
    public init(batchID: String, acknowledged acknowledgement: Acknowledgement) {
        self.init(batchID, present: acknowledgement) { .success(acknowledgement) }
    }

    private init(
        _ batchID: String, present: Acknowledgement?,
        answer: @escaping @Sendable () async -> Result<Acknowledgement, StorageError>
    ) {
        self.batchID = batchID
        self.present = present
        self.answer = answer
    }

    /// Waits until the server has taken the write.
    ///
    /// - Throws: Why the server refused it, after which its local effect is undone; `.cancelled` if the caller was.
    @discardableResult
    public func acknowledged() async throws(StorageError) -> Acknowledgement {
        try await answer().get()
    }
}

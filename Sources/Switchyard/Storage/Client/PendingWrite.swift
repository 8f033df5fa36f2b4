/// A batch of writes that is safe on this device and waits for the server.
public struct PendingWrite: Sendable, Hashable, Identifiable {
    /// The name that its ``WriteReceipt`` carries.
    public let id: String
    public let batch: WriteBatch
    public let queuedAt: Timestamp
    /// How often it was sent without a final answer.
    public let attempts: Int
    /// Why the last attempt failed, when one did.
    public let lastError: StorageError.Code?

    public init(id: String, batch: WriteBatch, queuedAt: Timestamp, attempts: Int, lastError: StorageError.Code?) {
        self.id = id
        self.batch = batch
        self.queuedAt = queuedAt
        self.attempts = attempts
        self.lastError = lastError
    }
}

/// A batch that the server refused for good. Its local effect is undone; the batch is kept until somebody decides.
public struct RefusedWrite: Sendable, Identifiable {
    public let id: String
    public let batch: WriteBatch
    public let refusedAt: Timestamp
    public let error: StorageError

    public init(id: String, batch: WriteBatch, refusedAt: Timestamp, error: StorageError) {
        self.id = id
        self.batch = batch
        self.refusedAt = refusedAt
        self.error = error
    }
}

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
    /// The same for people: what is wrong and, where it can be said, what to change. Known for the write that the others wait
    /// for, since this client was made.
    public let lastErrorMessage: String?
    /// When the next attempt is made, for the write that the others wait for; `nil` while it is under way, or not before
    /// something else happens.
    public let nextAttempt: Timestamp?

    public init(
        id: String, batch: WriteBatch, queuedAt: Timestamp, attempts: Int, lastError: StorageError.Code?,
        lastErrorMessage: String? = nil, nextAttempt: Timestamp? = nil
    ) {
        self.lastErrorMessage = lastErrorMessage
        self.nextAttempt = nextAttempt
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

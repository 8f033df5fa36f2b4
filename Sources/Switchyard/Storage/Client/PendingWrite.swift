/// A batch of writes that is safe on this device and waits for the server.
public struct PendingWrite: Sendable, Hashable, Identifiable {
    /// The name that its ``WriteReceipt`` carries.
    public let id: String
    public let batch: WriteBatch
    public let queuedAt: Timestamp
    /// How often it was sent without a final answer.
    public let attempts: Int
    /// Why the last attempt failed, if one did: what is wrong and, if possible, what to change. For an attempt made before
    /// this client existed, only the code is known. After ``StorageClient/disableNetwork()`` it says that no attempt is made.
    public let lastError: StorageError?
    /// When the next attempt is made, for the first write in the queue; `nil` while an attempt is in progress, or if the next
    /// one depends on something else.
    public let nextAttempt: Timestamp?

    public init(
        id: String, batch: WriteBatch, queuedAt: Timestamp, attempts: Int, lastError: StorageError?,
        nextAttempt: Timestamp? = nil
    ) {
        self.id = id
        self.batch = batch
        self.queuedAt = queuedAt
        self.attempts = attempts
        self.lastError = lastError
        self.nextAttempt = nextAttempt
    }
}

/// A batch that the server rejected. Its local effect is undone, and the batch is kept until you resolve it.
///
/// An error with the code `.localStore` is not the server's: the batch was read from a damaged database on this device, and the
/// server may have carried it out.
public struct RefusedWrite: Sendable, Hashable, Identifiable {
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

extension PendingWrite: CustomStringConvertible, CustomDebugStringConvertible {
    /// What is pending, since when, and why. Never includes document contents.
    public var description: String {
        var parts = ["\(batch)", "queued at \(queuedAt)"]
        if attempts > 0 { parts.append("\(attempts) attempt\(attempts == 1 ? "" : "s")") }
        if let lastError { parts.append("waits (\(lastError.code)): \(lastError.message)") }
        if let nextAttempt { parts.append("next at \(nextAttempt)") }
        return parts.joined(separator: "; ")
    }
    public var debugDescription: String { "PendingWrite(\(description))" }
}

extension RefusedWrite: CustomStringConvertible, CustomDebugStringConvertible {
    /// What was rejected, when, and why. Never includes document contents.
    public var description: String { "\(batch); rejected at \(refusedAt) (\(error.code)): \(error.message)" }
    public var debugDescription: String { "RefusedWrite(\(description))" }
}

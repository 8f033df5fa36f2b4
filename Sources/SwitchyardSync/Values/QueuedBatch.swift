package import Switchyard

/// A batch of writes in a user's queue.
package struct QueuedBatch: Sendable, Equatable {
    /// Rising in the order of writing, over all users; the queue's order.
    package let number: Int
    /// The name under which a provider's ledger knows the batch; the same however often it is sent.
    package let id: String
    package let writes: [DocumentWrite]
    /// What transforms started from, as writes that come before ``writes`` in the local view only: a repeated local
    /// application of an increment must begin with the same number.
    package let baseWrites: [DocumentWrite]
    package let queuedAt: Timestamp
    /// How often it was sent without a final answer.
    package var attempts: Int
    package var lastError: StorageError.Code?

    package init(
        number: Int, id: String, writes: [DocumentWrite], baseWrites: [DocumentWrite] = [], queuedAt: Timestamp,
        attempts: Int = 0, lastError: StorageError.Code? = nil
    ) {
        self.number = number
        self.id = id
        self.writes = writes
        self.baseWrites = baseWrites
        self.queuedAt = queuedAt
        self.attempts = attempts
        self.lastError = lastError
    }

    package var paths: Set<StoragePath> { Set(writes.map(\.path)) }
}

/// A batch that the server refused, kept until somebody decides what becomes of it.
package struct RefusedBatch: Sendable, Equatable {
    package let id: String
    package let writes: [DocumentWrite]
    package let refusedAt: Timestamp
    package let code: StorageError.Code
    package let message: String

    package init(
        id: String, writes: [DocumentWrite], refusedAt: Timestamp, code: StorageError.Code, message: String
    ) {
        self.id = id
        self.writes = writes
        self.refusedAt = refusedAt
        self.code = code
        self.message = message
    }
}

/// All of a user's pending writes on one document, as the one write that has the same effect.
package struct Overlay: Sendable, Equatable {
    /// A set, a deletion, or a patch with the union of the masks. Transforms are carried out already; a server time that
    /// is only estimated stays marked as such (``Timestamp/isEstimate``), also when it is stored.
    package let write: DocumentWrite
    /// The newest batch that took part.
    package let batchNumber: Int

    package init(write: DocumentWrite, batchNumber: Int) {
        self.write = write
        self.batchNumber = batchNumber
    }

    package var path: StoragePath { write.path }
}

/// Who owns a queue. Each user has one, and so does the device while nobody is signed in.
package struct QueueOwner: Sendable, Hashable {
    package let userID: String?
    package init(_ userID: String?) { self.userID = userID }
}

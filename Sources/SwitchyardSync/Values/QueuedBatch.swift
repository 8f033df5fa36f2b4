package import Switchyard

/// A batch of writes in a user's queue.
package struct QueuedBatch: Sendable, Equatable {
    /// Increases in the order of writing, over all users; the queue's order.
    package let number: Int
    /// The batch's name in a provider's ledger; the same at every attempt.
    package let id: String
    package let writes: [DocumentWrite]
    /// The base values of transforms, as writes that precede ``writes`` in the local view only: reapplying an increment locally
    /// must start with the same number.
    package var baseWrites: [DocumentWrite]
    package let queuedAt: Timestamp
    /// How often it was sent without a final answer.
    package var attempts: Int
    package var lastError: StorageError.Code?
    /// See ``OutgoingBatch/bases``; empty before the batch is first sent, and `nil` if it was queued for a driver without tags.
    package var bases: [DocumentTag?]?
    /// The documents that it writes to, that lie above these, and that it refers to, whose names the server has yet to make.
    package let provisional: Set<StoragePath>
    /// Whether it adds one of these; then it is its only write.
    package let isAddition: Bool

    package init(
        number: Int, id: String, writes: [DocumentWrite], baseWrites: [DocumentWrite] = [], queuedAt: Timestamp,
        attempts: Int = 0, lastError: StorageError.Code? = nil, bases: [DocumentTag?]? = nil,
        provisional: Set<StoragePath> = [], isAddition: Bool = false
    ) {
        self.provisional = provisional
        self.isAddition = isAddition
        self.number = number
        self.id = id
        self.writes = writes
        self.baseWrites = baseWrites
        self.queuedAt = queuedAt
        self.attempts = attempts
        self.lastError = lastError
        self.bases = bases
    }

    package var paths: Set<StoragePath> { Set(writes.map(\.path)) }
}

/// A batch that the server refused, or that was read from a damaged database, kept until it is resolved.
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

extension RefusedBatch {
    /// Whether it comes from a damaged database. No server refuses a batch with that code.
    var isSalvaged: Bool { code == .localStore }
}

/// All of a user's pending writes to one document, as a single write with the same effect.
package struct Overlay: Sendable, Equatable {
    /// A set, a deletion, or a patch with the union of the masks. Transforms have been applied; an estimated server time
    /// stays marked as such (``Timestamp/isEstimate``), also when it is stored.
    package let write: DocumentWrite
    /// The newest batch included.
    package let batchNumber: Int

    package init(write: DocumentWrite, batchNumber: Int) {
        self.write = write
        self.batchNumber = batchNumber
    }

    package var path: StoragePath { write.path }
}

/// The owner of a queue. Each user has one, and so does the device while no one is signed in.
package struct QueueOwner: Sendable, Hashable {
    package let userID: String?
    package init(_ userID: String?) { self.userID = userID }

    /// IDs compare by their bytes, as in a file.
    package static func == (left: QueueOwner, right: QueueOwner) -> Bool {
        switch (left.userID, right.userID) {
        case (nil, nil): true
        case (let left?, let right?): left.utf8Equals(right)
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(userID == nil)
        userID?.hashUTF8(into: &hasher)
    }
}

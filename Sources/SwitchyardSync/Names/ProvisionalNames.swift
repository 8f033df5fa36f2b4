import Switchyard

/// Tells the names that only this device knows, until the server has made others, as a driver does.
struct ProvisionalNames {
    let isProvisional: (StoragePath) -> Bool

    /// The documents with such names on the way to one, outermost first, and itself.
    func documents(on path: StoragePath) -> [StoragePath] { path.lineage.filter(isProvisional) }
}

/// What the server has to make before a batch can be sent, and whether the batch has it made.
struct Expectation {
    /// The documents that it writes to, that are above these, and that it refers to, whose names the server has yet to make.
    var documents: Set<StoragePath> = []
    /// Whether it adds such a document.
    var isAddition = false
}

/// A document's new name.
struct NewName: Equatable {
    let old: StoragePath
    let new: StoragePath

    func callAsFunction(_ path: StoragePath) -> StoragePath { path.moved(from: old, to: new) }
}

extension QueuedBatch {
    /// The document that it adds under a name that the server will make.
    var addition: StoragePath? { isAddition ? writes.first?.path : nil }

    /// The documents under which it is found in the queue.
    var touched: Set<StoragePath> { paths.union(provisional) }

    /// The same after a document got its name.
    func renamed(_ name: NewName) -> QueuedBatch {
        QueuedBatch(
            number: number, id: id, writes: writes.map { $0.mappingPaths { name($0) } },
            baseWrites: baseWrites.map { $0.mappingPaths { name($0) } }, queuedAt: queuedAt, attempts: attempts,
            lastError: lastError, bases: bases,
            provisional: Set(provisional.filter { $0 != name.old }.map { name($0) }), isAddition: isAddition)
    }
}

extension StorageError {
    /// - Parameter path: Stands for a document that no one has added.
    static func unknownAddition(_ path: StoragePath) -> StorageError {
        StorageError(
            .invalidArgument,
            "“\(path)” stands for a document whose name the server makes, and that document was not added on this device, or its "
                + "addition was rejected. Add it first.")
    }

    static func unnamedDocument(_ path: StoragePath) -> StorageError {
        StorageError(
            .invalidArgument,
            "“\(path)” has no key yet: it stands for a document whose name the server makes. It can only be created.")
    }

    static func sharedAddition(_ path: StoragePath) -> StorageError {
        StorageError(
            .unsupported,
            "A batch cannot have other writes beside the addition of “\(path)”, since the server makes that document's name. Add it "
                + "by itself; later writes may refer to it at once.")
    }

    /// - Parameters:
    ///   - path: A document that was not added.
    ///   - reason: Why, as a sentence.
    ///   - writes: What depends on it.
    static func missingAddition(_ path: StoragePath, _ reason: String, _ writes: [DocumentWrite]) -> StorageError {
        func isMeant(_ other: StoragePath) -> Bool { other == path || other.isBelow(path) }
        let relation =
            if writes.contains(where: { isMeant($0.path) }) {
                "which it changes"
            } else if writes.contains(where: { $0.references.contains(where: isMeant) }) {
                "to which it refers"
            } else {
                "to which another one refers that it depends on"
            }
        return StorageError(
            .failedPrecondition, "The write was not sent, because “\(path)”, \(relation), was not added: \(reason)",
            isRetryable: false, isRefusal: true)
    }
}

/// What a provider supplies for one attempt at a transaction.
///
/// ``StorageTransaction`` enforces the rules (reads first, each document read once, preconditions on the documents read); a
/// provider only reads and commits.
public protocol StorageTransactionBackend: Sendable {
    /// The committed state of `paths`, in that order; never from a cache.
    func documents(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot]

    /// Carries out all writes or none. A document that was read but not written becomes a `verify` write; the first write to
    /// a document that was read carries its version as precondition.
    ///
    /// - Throws: `.aborted`, `.failedPrecondition` or `.alreadyExists` if another client changed a document in between and
    ///   nothing was written: the transaction is then tried again. After any other failure it is not, since a commit whose
    ///   response was lost may have taken effect; a backend that knows that it has not throws `.aborted`.
    func commit(_ writes: [DocumentWrite]) async throws(StorageError) -> WriteReceipt.Acknowledgement

    /// Releases whatever the attempt holds on the server. Called when the attempt is abandoned or has nothing to commit,
    /// never after a commit.
    func rollBack() async
}

extension StorageTransactionBackend {
    public func rollBack() async {}
}

/// One attempt at a transaction, as passed to the caller's closure: first reads, then writes. Nothing is visible before the
/// end.
///
/// Do not use it after the closure has returned.
public actor StorageTransaction {
    private let backend: any StorageTransactionBackend
    private var read: [StoragePath: DocumentSnapshot] = [:]
    private var readOrder: [StoragePath] = []
    private var writes: [DocumentWrite] = []

    init(_ backend: any StorageTransactionBackend) { self.backend = backend }

    /// The committed state of a document. Reading it again returns the same.
    ///
    /// - Throws: `.invalidArgument` after the first write.
    public func document(_ path: StoragePath) async throws(StorageError) -> DocumentSnapshot {
        try await documents([path])[0]
    }

    /// The committed state of several documents, in the given order; one round trip for those not read yet.
    public func documents(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot] {
        guard writes.isEmpty else {
            throw .invalid("A transaction reads before it writes; move the reads to the front.")
        }
        var wanted: Set<StoragePath> = []
        for path in paths { try path.checked() }
        let unread = paths.filter { read[$0] == nil && wanted.insert($0).inserted }
        if !unread.isEmpty {
            for snapshot in try await fetch(unread) {
                if let known = read[snapshot.path], known.updateTime != snapshot.updateTime {
                    throw StorageError(.aborted, "A document changed between two reads of the transaction.")
                }
                if read.updateValue(snapshot, forKey: snapshot.path) == nil { readOrder.append(snapshot.path) }
            }
        }
        var result: [DocumentSnapshot] = []
        for path in paths {
            guard let snapshot = read[path] else {
                throw StorageError(.internal, "The backend's response lacks a document that the transaction requested.")
            }
            result.append(snapshot)
        }
        return result
    }

    private func fetch(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot] {
        do throws(StorageError) {
            return try await backend.documents(paths)
        } catch {
            throw error.named(paths.operation)
        }
    }

    public func set(_ path: StoragePath, _ fields: WriteFields) throws(StorageError) { try add(.set(path, fields)) }
    public func create(_ path: StoragePath, _ fields: WriteFields) throws(StorageError) {
        try add(.create(path, fields))
    }
    public func merge(_ path: StoragePath, _ fields: WriteFields) throws(StorageError) { try add(.merge(path, fields)) }
    public func delete(_ path: StoragePath) throws(StorageError) { try add(.delete(path)) }

    /// - Throws: `.notFound` at once if the document was read as missing.
    public func update(_ path: StoragePath, _ updates: FieldUpdates) throws(StorageError) {
        try add(.update(path, updates))
    }

    public func add(_ write: DocumentWrite) throws(StorageError) {
        try write.path.checked()
        let isFirst = !writes.contains { $0.path == write.path }
        guard isFirst, let known = read[write.path] else {
            writes.append(write)
            return
        }
        switch (write.precondition, known.updateTime) {
        case (.exists(true), nil) where !known.exists:
            throw StorageError(.notFound, "There is no document at “\(write.path)”.")
        case (.exists(false), _) where known.exists:
            throw StorageError(.alreadyExists, "There is already a document at “\(write.path)”.")
        case (.updateTime(let version), _) where known.updateTime != version:
            throw StorageError(.failedPrecondition, "The document at “\(write.path)” has changed since it was read.")
        case (_, let version?): writes.append(try write.requiring(.updateTime(version)))
        case (_, nil): writes.append(try write.requiring(.exists(known.exists)))
        }
    }

    /// The writes so far, with the preconditions of the documents read.
    package var pendingWrites: [DocumentWrite] { writes }

    /// Whether another client's change can have come in between.
    var hasRead: Bool { !read.isEmpty }

    /// - Parameter check: Checks whether the provider accepts that many writes.
    func commit(_ check: @Sendable (WriteBatch) throws(StorageError) -> Void) async throws(StorageError) {
        let written = Set(writes.map(\.path))
        let verified = readOrder.filter { !written.contains($0) }.map { path in
            let known = read[path]!
            return DocumentWrite(
                path: path, operation: .verify,
                precondition: known.updateTime.map { .updateTime($0) } ?? .exists(known.exists))
        }
        // Nothing to commit, but the attempt's resources have to be released.
        guard !writes.isEmpty || !verified.isEmpty else { return await backend.rollBack() }
        if !writes.isEmpty { try check(WriteBatch(writes)) }
        do throws(StorageError) {
            _ = try await backend.commit(writes + verified)
        } catch {
            throw error.named(WriteBatch(writes).operation)
        }
    }

    func rollBack() async { await backend.rollBack() }
}

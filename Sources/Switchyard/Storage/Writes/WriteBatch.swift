/// Several writes that take effect together, or not at all.
///
/// ```swift
/// var batch = WriteBatch()
/// try batch.set("checkIns/1", ["at": .serverTime])
/// try batch.update("users/alice", ["lastCheckIn": .serverTime])
/// let receipt = try await storage.commit(batch)
/// ```
public struct WriteBatch: Sendable, Hashable {
    /// In the order in which they take effect; one document may occur several times.
    public private(set) var writes: [DocumentWrite]
    /// Whether it may be merged with writes to the same document that wait right before or after it, unsent, and say the same.
    /// The earlier one is then ``WriteReceipt/State/superseded(by:)``, and its receipt has the answer to the later one.
    ///
    /// Single sets, merges and updates are merged, without transforms, if the document is the same in the end whatever it was
    /// before; other writes stay as they are. By default, each batch reaches the server by itself.
    public var mergesWaiting = false

    public init(_ writes: [DocumentWrite] = []) { self.writes = writes }

    public mutating func append(_ write: DocumentWrite) { writes.append(write) }

    public mutating func set(_ path: StoragePath, _ fields: WriteFields) throws(StorageError) {
        writes.append(try .set(path, fields))
    }
    public mutating func create(_ path: StoragePath, _ fields: WriteFields) throws(StorageError) {
        writes.append(try .create(path, fields))
    }
    public mutating func merge(_ path: StoragePath, _ fields: WriteFields) throws(StorageError) {
        writes.append(try .merge(path, fields))
    }
    public mutating func update(_ path: StoragePath, _ updates: FieldUpdates) throws(StorageError) {
        writes.append(try .update(path, updates))
    }
    public mutating func delete(_ path: StoragePath) { writes.append(.delete(path)) }

    public var isEmpty: Bool { writes.isEmpty }
    public var count: Int { writes.count }

    /// Throws if the batch is empty or a path is invalid. A provider calls this first in every commit.
    ///
    /// - Throws: `.invalidArgument`, with the first invalid path.
    @discardableResult
    public func checked() throws(StorageError) -> WriteBatch {
        guard !isEmpty else { throw .invalid("A batch needs at least one write.") }
        for write in writes { try write.path.checked() }
        return self
    }

    /// Whether repeating it does no harm.
    package var isIdempotent: Bool { writes.allSatisfy(\.isIdempotent) }
}

extension WriteBatch: CustomStringConvertible, CustomDebugStringConvertible {
    /// The first writes, without contents: `update todos/1 (1 field), delete todos/2`.
    public var description: String {
        guard !writes.isEmpty else { return "no writes" }
        let first = writes.prefix(3).map(\.description).joined(separator: ", ")
        return writes.count > 3 ? "\(first) and \(writes.count - 3) more" : first
    }
    public var debugDescription: String { "WriteBatch(\(description))" }
}

public import Foundation

/// A collection and the operations on it.
///
/// ```swift
/// let notes = storage.collection("users").document(id).collection("notes")
/// try await notes.add(["text": "Milk", "at": .serverTime])
/// for try await snapshot in notes.where("done", .equal, false).ordered(by: "at").stream() {
///     show(snapshot.documents)
/// }
/// ```
/// If a name is not a legal path segment, the first operation throws.
public struct CollectionHandle: DocumentQuerySource, Hashable, CustomStringConvertible {
    public typealias Narrowed = QueryHandle
    public let storage: any StorageClient
    public let path: CollectionPath

    init(storage: any StorageClient, path: CollectionPath) {
        self.storage = storage
        self.path = path
    }

    public var id: String { path.id }
    public var query: Query { Query(in: path) }
    public var description: String { path.description }

    /// The document that holds this collection; `nil` at the top.
    public var parent: DocumentHandle? { path.parent.map { DocumentHandle(storage: storage, path: $0) } }

    /// The document called `id`.
    public func document(_ id: String) -> DocumentHandle {
        DocumentHandle(storage: storage, path: path.document(id))
    }

    /// The document called `id`, as `uuidString` spells it.
    public func document(_ id: UUID) -> DocumentHandle { document(id.uuidString) }

    /// The document called `id` in decimal digits.
    public func document(_ id: some BinaryInteger) -> DocumentHandle { document(String(id)) }

    /// A document with a new random name. It does not exist until you write it.
    public func newDocument() -> DocumentHandle {
        DocumentHandle(storage: storage, path: storage.newDocument(in: path))
    }

    /// Adds a document with a new random name. To get the server's answer, use ``addWithReceipt(_:)``.
    @discardableResult
    public func add(_ fields: WriteFields) async throws(StorageError) -> DocumentHandle {
        try await addWithReceipt(fields).document
    }

    /// Adds a document with a new random name, and returns it with the receipt, which lets you wait for the server.
    public func addWithReceipt(
        _ fields: WriteFields
    ) async throws(StorageError) -> (document: DocumentHandle, receipt: WriteReceipt) {
        let document = newDocument()
        let receipt = try await document.create(fields)
        return (receipt.added.map { DocumentHandle(storage: storage, path: $0) } ?? document, receipt)
    }

    /// Adds a document with a new random name and the fields of `value`.
    @discardableResult
    public func add(
        from value: some Encodable, by coder: DocumentCoder = .standard
    ) async throws(StorageError) -> DocumentHandle {
        try await add(coder.encode(value))
    }

    /// As ``addWithReceipt(_:)``, with the fields of `value`.
    public func addWithReceipt(
        from value: some Encodable, by coder: DocumentCoder = .standard
    ) async throws(StorageError) -> (document: DocumentHandle, receipt: WriteReceipt) {
        try await addWithReceipt(coder.encode(value))
    }

    /// Deletes all documents with everything below them; see ``StorageClient/deleteRecursively(_:progress:)-(StoragePath,_)``.
    @discardableResult
    public func deleteRecursively(
        progress: @escaping @Sendable (_ deleted: Int) -> Void = { _ in }
    ) async throws(StorageError) -> Int { try await storage.deleteRecursively(path, progress: progress) }

    /// The same collection, its documents as values of a `Codable` type.
    public func of<Value: Codable & Sendable>(
        _ type: Value.Type, by coder: DocumentCoder = .standard
    ) -> TypedCollection<Value> { storage.collection(path, of: type, by: coder) }

    /// Handles are equal if they are of one client and have the same path.
    public static func == (left: CollectionHandle, right: CollectionHandle) -> Bool {
        left.path == right.path && left.storage.identity == right.storage.identity
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

/// A document, existing or not, and the operations on it.
///
/// ```swift
/// let alice = storage.collection("users").document("alice")
/// try await alice.merge(["seen": .serverTime])
/// let name = try await alice.get()["name"]
/// ```
/// If a name is not a legal path segment, the first operation throws.
public struct DocumentHandle: Sendable, Hashable, CustomStringConvertible {
    public let storage: any StorageClient
    public let path: StoragePath

    init(storage: any StorageClient, path: StoragePath) {
        self.storage = storage
        self.path = path
    }

    public var id: String { path.id }
    public var description: String { path.description }

    /// The collection that holds this document.
    public var parent: CollectionHandle { CollectionHandle(storage: storage, path: path.collection) }

    // MARK: What is below

    public func collection(_ id: String) -> CollectionHandle {
        CollectionHandle(storage: storage, path: path.collection(id))
    }

    /// A collection below this document whose documents are values of a `Codable` type.
    public func collection<Value: Codable & Sendable>(
        _ id: String, of type: Value.Type, by coder: DocumentCoder = .standard
    ) -> TypedCollection<Value> { storage.collection(path.collection(id), of: type, by: coder) }

    /// A collection below this document whose documents are values of a type with its own conversion.
    public func collection<Value: DocumentConvertible>(_ id: String, of type: Value.Type) -> TypedCollection<Value> {
        storage.collection(path.collection(id), of: type)
    }

    /// For a type that is both, uses its own conversion.
    public func collection<Value: DocumentConvertible & Codable>(
        _ id: String, of type: Value.Type
    ) -> TypedCollection<Value> { storage.collection(path.collection(id), of: type) }

    /// The collections below this document. Needs the capability.
    public func collections() async throws(StorageError) -> [CollectionHandle] {
        try await storage.collections(under: path).map { CollectionHandle(storage: storage, path: $0) }
    }

    // MARK: Reading

    /// The document now. A missing document is not an error: its snapshot has no data.
    public func get(from source: ReadSource = .standard) async throws(StorageError) -> DocumentSnapshot {
        try await storage.document(path, from: source)
    }

    /// The document now, as a value; `nil` if it does not exist.
    public func get<Value: Decodable>(
        as type: Value.Type, from source: ReadSource = .standard, by coder: DocumentCoder = .standard
    ) async throws(StorageError) -> Value? { try await get(from: source).decoded(as: type, by: coder) }

    /// Whether there is a document here. Reads it.
    public func exists() async throws(StorageError) -> Bool { try await storage.exists(path) }

    /// The document, now and after every change.
    public func stream(_ options: ListenOptions = ListenOptions()) -> SnapshotStream<DocumentSnapshot, StorageError> {
        storage.snapshots(of: path, options: options)
    }

    // MARK: Writing

    /// Replaces the document, or creates it.
    @discardableResult
    public func set(_ fields: WriteFields) async throws(StorageError) -> WriteReceipt {
        try await storage.setDocument(path, fields)
    }

    /// Replaces the document, or creates it, with the fields of `value`.
    @discardableResult
    public func set(
        from value: some Encodable, by coder: DocumentCoder = .standard
    ) async throws(StorageError) -> WriteReceipt { try await storage.setDocument(path, from: value, by: coder) }

    /// Creates the document; `.alreadyExists` if it exists (with a queue, on the receipt).
    @discardableResult
    public func create(_ fields: WriteFields) async throws(StorageError) -> WriteReceipt {
        try await storage.createDocument(path, fields)
    }

    /// Writes the given fields, nested maps field by field, and creates the document if it is missing.
    @discardableResult
    public func merge(_ fields: WriteFields) async throws(StorageError) -> WriteReceipt {
        try await storage.mergeDocument(path, fields)
    }

    /// Writes the given fields; `.notFound` if the document is missing (with a queue, on the receipt).
    @discardableResult
    public func update(_ updates: FieldUpdates) async throws(StorageError) -> WriteReceipt {
        try await storage.updateDocument(path, updates)
    }

    /// Deletes the document; no error if it is missing. Documents below it stay.
    @discardableResult
    public func delete() async throws(StorageError) -> WriteReceipt { try await storage.deleteDocument(path) }

    /// Deletes the document and everything below it; see
    /// ``StorageClient/deleteRecursively(_:progress:)-(StoragePath,_)``.
    @discardableResult
    public func deleteRecursively(
        progress: @escaping @Sendable (_ deleted: Int) -> Void = { _ in }
    ) async throws(StorageError) -> Int { try await storage.deleteRecursively(path, progress: progress) }

    /// The same document as a value of a `Codable` type.
    public func of<Value: Codable & Sendable>(
        _ type: Value.Type, by coder: DocumentCoder = .standard
    ) -> TypedDocument<Value> { parent.of(type, by: coder).document(at: path) }

    /// Handles are equal if they are of one client and have the same path.
    public static func == (left: DocumentHandle, right: DocumentHandle) -> Bool {
        left.path == right.path && left.storage.identity == right.storage.identity
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

/// Documents as values of any `Codable` type; see ``DocumentCoder`` for the mapping.
extension StorageClient {
    /// The document at `path` as a value; `nil` if it does not exist.
    ///
    /// - Throws: `.codingFailed` naming the field that does not fit.
    public func document<Value: Decodable>(
        _ path: StoragePath, as type: Value.Type, by coder: DocumentCoder = .standard
    ) async throws(StorageError) -> Value? {
        try await document(path).decoded(as: type, by: coder)
    }

    /// The results of `query` as values, in order.
    ///
    /// - Throws: `.codingFailed` naming the first document that does not fit, and its field.
    public func documents<Value: Decodable>(
        _ query: Query, as type: Value.Type, by coder: DocumentCoder = .standard
    ) async throws(StorageError) -> [Value] {
        try await documents(query).decoded(as: type, by: coder)
    }

    /// Replaces the document at `path`, or creates it, with the fields of `value`.
    @discardableResult
    public func setDocument(
        _ path: StoragePath, from value: some Encodable, by coder: DocumentCoder = .standard
    ) async throws(StorageError) -> WriteReceipt {
        try await commit(WriteBatch([.set(path, from: value, by: coder)]))
    }

    /// Creates the document with the fields of `value`; `.alreadyExists` if it exists (with a queue, on the receipt).
    @discardableResult
    public func createDocument(
        _ path: StoragePath, from value: some Encodable, by coder: DocumentCoder = .standard
    ) async throws(StorageError) -> WriteReceipt {
        try await commit(WriteBatch([.create(path, coder.encode(value))]))
    }

    /// Writes the fields of `value`, nested ones one by one; `nil` optionals leave their fields unchanged.
    @discardableResult
    public func mergeDocument(
        _ path: StoragePath, from value: some Encodable, by coder: DocumentCoder = .standard
    ) async throws(StorageError) -> WriteReceipt {
        try await commit(WriteBatch([.merge(path, coder.encode(value))]))
    }

    /// Adds a document with a new random name to `collection`.
    ///
    /// - Returns: Where it is.
    @discardableResult
    public func addDocument(
        to collection: CollectionPath, from value: some Encodable, by coder: DocumentCoder = .standard
    ) async throws(StorageError) -> StoragePath {
        let path = newDocument(in: collection)
        return try await createDocument(path, from: value, by: coder).added ?? path
    }

    /// Adds a document with a new random name to `collection`.
    ///
    /// - Returns: Where it is.
    @discardableResult
    public func addDocument(
        to collection: CollectionPath, _ fields: WriteFields
    ) async throws(StorageError) -> StoragePath {
        let path = newDocument(in: collection)
        return try await createDocument(path, fields).added ?? path
    }
}

extension DocumentWrite {
    /// Replaces the document, or creates it, with the fields of `value`.
    public static func set(
        _ path: StoragePath, from value: some Encodable, by coder: DocumentCoder = .standard
    ) throws(StorageError) -> DocumentWrite {
        try coder.write(value) { data, fields throws(StorageError) in
            if let fields { try .set(path, fields) } else { try .set(path, data: data) }
        }
    }
}

extension WriteBatch {
    public mutating func set(
        _ path: StoragePath, from value: some Encodable, by coder: DocumentCoder = .standard
    ) throws(StorageError) {
        append(try .set(path, from: value, by: coder))
    }

    public mutating func create(
        _ path: StoragePath, from value: some Encodable, by coder: DocumentCoder = .standard
    ) throws(StorageError) {
        append(try .create(path, coder.encode(value)))
    }

    public mutating func merge(
        _ path: StoragePath, from value: some Encodable, by coder: DocumentCoder = .standard
    ) throws(StorageError) {
        append(try .merge(path, coder.encode(value)))
    }
}

extension StorageTransaction {
    /// The committed state of a document as a value; `nil` if it does not exist.
    public func document<Value: Decodable & Sendable>(
        _ path: StoragePath, as type: Value.Type, by coder: DocumentCoder = .standard
    ) async throws(StorageError) -> Value? {
        try await document(path).decoded(as: type, by: coder)
    }

    public func set(
        _ path: StoragePath, from value: some Encodable, by coder: DocumentCoder = .standard
    ) throws(StorageError) {
        try add(.set(path, from: value, by: coder))
    }
}

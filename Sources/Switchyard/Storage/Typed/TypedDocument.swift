/// A document, existing or not, whose contents are a value of one type.
public struct TypedDocument<Value: Sendable>: Sendable {
    public let storage: any StorageClient
    public let path: StoragePath
    let converter: DocumentConverter<Value>

    public var id: String { path.id }

    /// The same document without the type, for access to its subcollections.
    public var untyped: DocumentHandle { DocumentHandle(storage: storage, path: path) }

    // MARK: Reading

    /// The value now; `nil` if there is no document.
    ///
    /// - Throws: `.codingFailed` naming the field that does not fit, unless `onMismatch` skips it: then the value is `nil`.
    public func get(
        from source: ReadSource = .standard, onMismatch: MismatchHandling = .fail
    ) async throws(StorageError) -> Value? {
        try TypedDocumentSnapshot(await storage.document(path, from: source), onMismatch, converter).value
    }

    /// The value, now and after every change. A document that does not fit ends the stream, unless `onMismatch` skips it:
    /// then the value is `nil`, and ``TypedDocumentSnapshot/mismatch`` says why, until it fits again.
    public func stream(
        _ options: ListenOptions = ListenOptions(), onMismatch: MismatchHandling = .fail
    ) -> SnapshotStream<TypedDocumentSnapshot<Value>, StorageError> {
        storage.snapshots(of: path, options: options).mapElements { [converter] document throws(StorageError) in
            try TypedDocumentSnapshot(document, onMismatch, converter)
        }
    }

    // MARK: Writing

    /// Replaces the document, or creates it.
    @discardableResult
    public func set(_ value: Value) async throws(StorageError) -> WriteReceipt {
        try await storage.setDocument(path, converter.encode(value))
    }

    /// Creates the document; `.alreadyExists` if it exists (with a queue, on the receipt).
    @discardableResult
    public func create(_ value: Value) async throws(StorageError) -> WriteReceipt {
        try await storage.createDocument(path, converter.encode(value))
    }

    /// Writes the fields of `value`, nested ones one by one, and leaves others unchanged.
    @discardableResult
    public func merge(_ value: Value) async throws(StorageError) -> WriteReceipt {
        try await storage.mergeDocument(path, converter.encode(value))
    }

    /// Writes single fields; `.notFound` if the document is missing (with a queue, on the receipt).
    @discardableResult
    public func update(_ updates: FieldUpdates) async throws(StorageError) -> WriteReceipt {
        try await storage.updateDocument(path, updates)
    }

    /// Writes one field: `update(\.done, to: true)`.
    ///
    /// - Throws: `.invalidArgument` for a property without a field; see ``FieldNaming``.
    @discardableResult
    public func update<Field: Encodable & Sendable>(
        _ property: any KeyPath<Value, Field> & Sendable, to value: Field
    ) async throws(StorageError) -> WriteReceipt {
        try await update(property, .value(converter.operand(value)))
    }

    /// Changes one field on the server: `update(\.visits, .increment(1))`.
    ///
    /// - Throws: `.invalidArgument` for a property without a field; see ``FieldNaming``.
    @discardableResult
    public func update(
        _ property: any PartialKeyPath<Value> & Sendable, _ change: FieldValue
    ) async throws(StorageError) -> WriteReceipt {
        try await update([converter.field(property): change])
    }

    /// Deletes the document; no error if it is missing. Documents below it stay.
    @discardableResult
    public func delete() async throws(StorageError) -> WriteReceipt { try await storage.deleteDocument(path) }
}

/// A document as a value at one moment.
public struct TypedDocumentSnapshot<Value: Sendable>: Sendable {
    /// `nil` while the document does not exist, or does not fit.
    public let value: Value?
    /// Why the document does not fit, if mismatches are skipped.
    public let mismatch: StorageError?
    /// The document itself, with its path, times and fields.
    public let document: DocumentSnapshot

    public var id: String { document.id }
    public var exists: Bool { document.exists }
    /// Whether the server has not confirmed that this is its current state.
    public var isFromCache: Bool { document.metadata.isFromCache }
    /// Whether this includes a local write that the server has not confirmed.
    public var hasPendingWrites: Bool { document.metadata.hasPendingWrites }

    init(
        _ document: DocumentSnapshot, _ handling: MismatchHandling, _ converter: DocumentConverter<Value>
    ) throws(StorageError) {
        self.document = document
        var mismatch: StorageError?
        var value: Value?
        if document.exists {
            do throws(StorageError) {
                value = try converter.decode(document)
            } catch {
                mismatch = try handling.handled(error)
            }
        }
        self.value = value
        self.mismatch = mismatch
    }
}

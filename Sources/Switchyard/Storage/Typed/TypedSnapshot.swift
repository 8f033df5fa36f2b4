/// What happens to a document that does not fit the type of its list.
public enum MismatchHandling: Sendable {
    /// The read fails, or the stream ends, with `.codingFailed` naming document and field.
    case fail
    /// The document is left out, and the closure is called each time.
    case skip(@Sendable (StorageError) -> Void)

    /// The document is left out; ``TypedSnapshot/mismatches`` has it.
    public static var skip: MismatchHandling { .skip { _ in } }

    /// Throws the mismatch, or reports and returns it.
    func handled(_ mismatch: StorageError) throws(StorageError) -> StorageError {
        guard case .skip(let report) = self else { throw mismatch }
        report(mismatch)
        return mismatch
    }
}

/// The results of a query at one moment: a collection of values in the query's order.
public struct TypedSnapshot<Value: Sendable>: Sendable {
    /// A value and the document it comes from.
    public struct Row: Sendable, Identifiable {
        public let value: Value
        /// The document itself, with its path, times and fields; use it to begin the next page.
        public let document: DocumentSnapshot
        /// Shared by the rows of one list.
        let origin: RowOrigin<Value>

        /// The path, which is unique even among the results of a collection group.
        public var id: StoragePath { document.path }
        public var path: StoragePath { document.path }
        /// Whether this includes a local write that the server has not confirmed.
        public var isPending: Bool { document.metadata.hasPendingWrites }
        /// Whether the server has not confirmed that this is its current state.
        public var isFromCache: Bool { document.metadata.isFromCache }
        /// The document and the operations on it.
        public var handle: TypedDocument<Value> {
            TypedDocument(storage: origin.storage, path: document.path, converter: origin.converter)
        }
    }

    public let rows: [Row]
    /// Why documents are left out, if mismatches are skipped.
    public let mismatches: [StorageError]
    public let metadata: SnapshotMetadata
    /// The original result, with the changes since the previous one.
    public let snapshot: QuerySnapshot
    let origin: RowOrigin<Value>

    init(
        _ snapshot: QuerySnapshot, _ handling: MismatchHandling, _ origin: RowOrigin<Value>
    ) throws(StorageError) {
        var rows: [Row] = []
        var mismatches: [StorageError] = []
        rows.reserveCapacity(snapshot.count)
        let decode = origin.converter.decoder()
        for document in snapshot.documents {
            do throws(StorageError) {
                rows.append(Row(value: try decode(document), document: document, origin: origin))
            } catch {
                mismatches.append(try handling.handled(error))
            }
        }
        self.rows = rows
        self.mismatches = mismatches
        self.snapshot = snapshot
        self.origin = origin
        metadata = snapshot.metadata
    }

    package init(
        _ snapshot: QuerySnapshot, _ handling: MismatchHandling, from storage: any StorageClient
    ) throws(StorageError) where Value: Codable {
        try self.init(snapshot, handling, RowOrigin(storage, DocumentConverter(.standard)))
    }

    /// Whether the server has not confirmed that this is its current state: it may lag behind, or be incomplete.
    public var isFromCache: Bool { metadata.isFromCache }
    /// Whether this includes local writes that the server has not confirmed.
    public var hasPendingWrites: Bool { metadata.hasPendingWrites }
}

extension TypedSnapshot: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { rows.count }
    public subscript(position: Int) -> Value { rows[position].value }
}

/// The source of a list's rows, and how to write their values.
final class RowOrigin<Value: Sendable>: Sendable {
    let storage: any StorageClient
    let converter: DocumentConverter<Value>

    init(_ storage: any StorageClient, _ converter: DocumentConverter<Value>) {
        self.storage = storage
        self.converter = converter
    }
}

/// Changes to a row's document, as in ``TypedDocument``.
extension TypedSnapshot.Row {
    /// Writes one field: `row.update(\.done, to: true)`.
    @discardableResult
    public func update<Field: Encodable & Sendable>(
        _ property: any KeyPath<Value, Field> & Sendable, to value: Field
    ) async throws(StorageError) -> WriteReceipt { try await handle.update(property, to: value) }

    /// Changes one field on the server: `row.update(\.visits, .increment(1))`.
    @discardableResult
    public func update(
        _ property: any PartialKeyPath<Value> & Sendable, _ change: FieldValue
    ) async throws(StorageError) -> WriteReceipt { try await handle.update(property, change) }

    /// Replaces the document with the fields of `value`.
    @discardableResult
    public func set(_ value: Value) async throws(StorageError) -> WriteReceipt { try await handle.set(value) }

    @discardableResult
    public func delete() async throws(StorageError) -> WriteReceipt { try await handle.delete() }
}

extension TypedSnapshot: CustomStringConvertible, CustomDebugStringConvertible {
    /// The number of values and their source, but never the values: print `map { $0 }` for those.
    public var description: String {
        var parts = ["\(count) row\(count == 1 ? "" : "s")"]
        if !mismatches.isEmpty { parts.append("\(mismatches.count) left out") }
        return "\(snapshot.query): \((parts + metadata.words).joined(separator: ", "))"
    }
    public var debugDescription: String { "TypedSnapshot(\(description))" }
}

extension TypedSnapshot.Row: CustomStringConvertible, CustomDebugStringConvertible {
    /// The document without its contents, which are in `value`.
    public var description: String { document.description }
    public var debugDescription: String { "Row(\(description))" }
}

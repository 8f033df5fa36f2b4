/// What happens to a document that does not fit the type of its list.
public enum MismatchHandling: Sendable {
    /// The read fails, or the stream ends, with `.codingFailed` naming document and field.
    case fail
    /// The document is left out, and told here each time it is met.
    case skip(@Sendable (StorageError) -> Void)

    /// The document is left out; ``TypedSnapshot/mismatches`` has it.
    public static var skip: MismatchHandling { .skip { _ in } }
}

/// The results of a query at one moment: a collection of values in the query's order.
public struct TypedSnapshot<Value: Sendable>: Sendable {
    /// A value and the document it comes from.
    public struct Row: Sendable, Identifiable {
        public let value: Value
        /// The document itself: its path, its times, its fields; where the next page begins.
        public let document: DocumentSnapshot

        /// The path: unique also among the results of a collection group.
        public var id: StoragePath { document.path }
        public var path: StoragePath { document.path }
        /// Whether this shows a write of this device that the server has not confirmed.
        public var isPending: Bool { document.metadata.hasPendingWrites }
        /// Whether the server has not confirmed that this is its present state.
        public var isFromCache: Bool { document.metadata.isFromCache }
    }

    public let rows: [Row]
    /// Why documents are left out, where they may be.
    public let mismatches: [StorageError]
    public let metadata: SnapshotMetadata
    /// The result as it came, with what changed since the one before.
    public let snapshot: QuerySnapshot

    package init(
        _ snapshot: QuerySnapshot, _ handling: MismatchHandling,
        _ decode: (DocumentSnapshot) throws(StorageError) -> Value
    ) throws(StorageError) {
        var rows: [Row] = []
        var mismatches: [StorageError] = []
        rows.reserveCapacity(snapshot.count)
        for document in snapshot.documents {
            do throws(StorageError) {
                rows.append(Row(value: try decode(document), document: document))
            } catch {
                guard case .skip(let report) = handling else { throw error }
                mismatches.append(error)
                report(error)
            }
        }
        self.rows = rows
        self.mismatches = mismatches
        self.snapshot = snapshot
        metadata = snapshot.metadata
    }

    /// Whether the server has not confirmed that this is its present state: it may lag behind, or be incomplete.
    public var isFromCache: Bool { metadata.isFromCache }
    /// Whether this shows writes of this device that the server has not confirmed.
    public var hasPendingWrites: Bool { metadata.hasPendingWrites }
}

extension TypedSnapshot: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { rows.count }
    public subscript(position: Int) -> Value { rows[position].value }
}

extension TypedSnapshot.Row: Equatable where Value: Equatable {}

/// The whole result of a query at one moment, and how it differs from the one before.
public struct QuerySnapshot: Sendable, Equatable {
    public let query: Query
    /// All results, in the query's order.
    public let documents: DocumentList
    /// What changed since the snapshot before this one; in the first one, every document as added.
    ///
    /// Apply them in order to the previous list of documents to get ``documents``: each index is valid when its turn comes.
    public let changes: [DocumentChange]
    public let metadata: SnapshotMetadata

    package init(query: Query, documents: DocumentList, changes: [DocumentChange], metadata: SnapshotMetadata) {
        self.query = query
        self.documents = documents
        self.changes = changes
        self.metadata = metadata
    }

    /// A result read once: every document counts as added.
    public init(query: Query, documents: [DocumentSnapshot], metadata: SnapshotMetadata = SnapshotMetadata()) {
        self.init(
            query: query, documents: DocumentList(inOrder: documents),
            changes: documents.enumerated().map {
                DocumentChange(kind: .added, document: $1, oldIndex: nil, newIndex: $0)
            },
            metadata: metadata)
    }

    public var count: Int { documents.count }
    public var isEmpty: Bool { documents.isEmpty }
}

/// One difference between two snapshots of a query.
public struct DocumentChange: Sendable, Equatable {
    public enum Kind: String, Sendable, Hashable {
        case added
        /// Contents changed, and perhaps the place in the order.
        case modified
        case removed
        /// Only the document's metadata changed; reported to listeners that asked for metadata.
        case metadata
    }

    public let kind: Kind
    /// The document as it is now; a removed one as it was last.
    public let document: DocumentSnapshot
    /// Where it was, when it was in the result: an index into the list as it stands before this change is applied.
    public let oldIndex: Int?
    /// Where it is now, when it is in the result: an index into the list as it stands after this change is applied.
    public let newIndex: Int?

    public init(kind: Kind, document: DocumentSnapshot, oldIndex: Int?, newIndex: Int?) {
        self.kind = kind
        self.document = document
        self.oldIndex = oldIndex
        self.newIndex = newIndex
    }
}

/// The whole result of a query at one moment, a collection of its documents, and its difference from the previous one.
public struct QuerySnapshot: Sendable {
    public let query: Query
    /// All results, in the query's order.
    public let documents: DocumentList
    public let metadata: SnapshotMetadata
    /// Where the server's answer to a one-time read was cut off, if it reports that: more results may follow, even if there
    /// are fewer here than the limit allows.
    package private(set) var cut: QueryCut?
    private let difference: Difference

    private enum Difference: Sendable {
        case everythingAdded
        case known([DocumentChange], since: DocumentList?, isReordered: Bool)
        case merged(MergedChanges)
    }

    /// What changed since the previous snapshot that the stream's consumer received; in the first one, every document is
    /// added.
    ///
    /// To get ``documents``, apply the changes in order to the previous list: each index is valid when its turn comes.
    public var changes: [DocumentChange] {
        switch difference {
        case .everythingAdded: documents.additions
        case .known(let changes, _, _): changes
        case .merged(let merged): merged.changes
        }
    }

    /// - Parameters:
    ///   - query: The query.
    ///   - documents: All results.
    ///   - changes: The difference from the previous list.
    ///   - metadata: Where they come from.
    ///   - previous: The list to which the changes apply. With it, a snapshot that replaces an unread one reports each
    ///     document once; without it, the changes of both are reported in sequence.
    ///   - isReordered: Whether one of the lists may have another order than the query's.
    package init(
        query: Query, documents: DocumentList, changes: [DocumentChange], metadata: SnapshotMetadata,
        since previous: DocumentList? = nil, isReordered: Bool = false
    ) {
        self.query = query
        self.documents = documents
        self.metadata = metadata
        difference = .known(changes, since: previous, isReordered: isReordered)
    }

    /// A one-time result: every document counts as added.
    public init(query: Query, documents: [DocumentSnapshot], metadata: SnapshotMetadata = SnapshotMetadata()) {
        self.query = query
        self.documents = DocumentList(unsplit: documents)
        self.metadata = metadata
        difference = .everythingAdded
    }

    package init(
        query: Query, documents: [DocumentSnapshot], metadata: SnapshotMetadata = SnapshotMetadata(), cut: QueryCut?
    ) {
        self.init(query: query, documents: documents, metadata: metadata)
        self.cut = cut
    }

    /// A one-time result of the first `count` documents.
    func limited(to count: Int) -> QuerySnapshot {
        QuerySnapshot(query: query, documents: Array(documents.prefix(count)), metadata: metadata)
    }

    /// Whether it is the result of a one-time read.
    var isOneTime: Bool { if case .everythingAdded = difference { true } else { false } }

    /// The same snapshot with other metadata.
    func with(_ metadata: SnapshotMetadata) -> QuerySnapshot { QuerySnapshot(self, metadata) }

    private init(_ other: QuerySnapshot, _ metadata: SnapshotMetadata) {
        query = other.query
        documents = other.documents
        self.metadata = metadata
        cut = other.cut
        difference = other.difference
    }

    /// The same snapshot with only the fields that the query selects.
    package var projected: QuerySnapshot {
        guard query.projection != nil else { return self }
        return QuerySnapshot(
            query: query, documents: DocumentList(inOrder: documents.map { $0.projected(for: query) }),
            changes: changes.map {
                DocumentChange(
                    kind: $0.kind, document: $0.document.projected(for: query), oldIndex: $0.oldIndex,
                    newIndex: $0.newIndex)
            },
            metadata: metadata)
    }
}

extension QuerySnapshot: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { documents.endIndex }
    public subscript(position: Int) -> DocumentSnapshot { documents[position] }
    public func makeIterator() -> DocumentList.Iterator { documents.makeIterator() }
}

extension QuerySnapshot: Equatable {
    public static func == (left: QuerySnapshot, right: QuerySnapshot) -> Bool {
        left.query == right.query && left.metadata == right.metadata && left.documents == right.documents
            && left.changes == right.changes
    }
}

extension QuerySnapshot: SupersedingElement {
    /// Whether the order of the documents, or of those before, may be another than the query's own: where a server decides it.
    package var isReordered: Bool {
        switch difference {
        case .everythingAdded: false
        case .known(_, _, let isReordered): isReordered
        case .merged(let merged): merged.isReordered
        }
    }

    /// This snapshot with the changes since the one before `unseen`, computed on demand.
    public func superseding(_ unseen: QuerySnapshot) -> QuerySnapshot {
        QuerySnapshot(self, merging: unseen)
    }

    private init(_ new: QuerySnapshot, merging unseen: QuerySnapshot) {
        query = new.query
        documents = new.documents
        metadata = new.metadata
        let earlier =
            switch unseen.difference {
            case .everythingAdded: MergedChanges(unseen.changes, since: DocumentList(), by: unseen.query)
            case .known(let changes, let previous, let isReordered):
                MergedChanges(changes, since: previous, by: unseen.query, isReordered: isReordered)
            case .merged(let merged): merged
            }
        difference = .merged(earlier.appending(new.changes, isReordered: new.isReordered))
    }
}

/// The end of a server's answer that a limit has cut off.
package struct QueryCut: Sendable {
    /// The last document of the answer; `nil` if there is none, although the server counted some.
    package let last: DocumentSnapshot?
    package init(behind last: DocumentSnapshot?) { self.last = last }
}

/// One difference between two snapshots of a query.
public struct DocumentChange: Sendable, Equatable {
    public enum Kind: String, Sendable, Hashable {
        case added
        /// The contents changed, and perhaps the position in the order.
        case modified
        case removed
        /// Only the document's metadata changed; reported to listeners that asked for metadata.
        case metadata
    }

    public let kind: Kind
    /// The document as it is now; for a removed one, its last state.
    public let document: DocumentSnapshot
    /// Its old position, if it was in the result: an index into the list before this change is applied.
    public let oldIndex: Int?
    /// Its new position, if it is in the result: an index into the list after this change is applied.
    public let newIndex: Int?

    public init(kind: Kind, document: DocumentSnapshot, oldIndex: Int?, newIndex: Int?) {
        self.kind = kind
        self.document = document
        self.oldIndex = oldIndex
        self.newIndex = newIndex
    }
}

extension QuerySnapshot: CustomStringConvertible, CustomDebugStringConvertible {
    /// `todos where done == …: 3 documents, from the cache`. Never includes document contents.
    public var description: String {
        let documents = "\(count) document\(count == 1 ? "" : "s")"
        return "\(query): \(([documents] + metadata.words).joined(separator: ", "))"
    }
    public var debugDescription: String { "QuerySnapshot(\(description))" }
}

import Switchyard

/// One stream of query results. Belongs to a ``MockDevice`` and, like that, has no lock of its own.
final class QueryListener {
    let continuation: SnapshotStream<QuerySnapshot, StorageError>.Continuation
    let options: ListenOptions
    /// Holds little more than its limit wants: the database can refill it at any time.
    private var view: QueryView
    private var list = DocumentList()
    private var metadata: SnapshotMetadata?

    init(
        _ query: Query, _ options: ListenOptions,
        _ continuation: SnapshotStream<QuerySnapshot, StorageError>.Continuation
    ) {
        view = QueryView(query, reserve: 16)
        self.options = options
        self.continuation = continuation
    }

    var query: Query { view.query }

    /// Whether the document is, or would be, in the view.
    func concerns(_ document: DocumentSnapshot) -> Bool {
        view.document(at: document.path) != nil || view.evaluator.matches(document)
    }

    /// The documents that the view holds now.
    var documents: DocumentList { list }

    /// Whether the view lost so many documents that only those beyond its limit could fill the gap.
    var needsRefill: Bool { view.needsRefill }

    func take(_ documents: [DocumentSnapshot]) {
        for document in documents { view.update(document) }
    }

    /// Everything may have changed: at the start, when the connection comes or goes, and for a refill.
    func reset(to documents: [DocumentSnapshot]) { view.reset(to: documents) }

    /// The snapshot after what was taken in; `nil` when there is nothing to tell.
    ///
    /// - Parameter mayBePending: Whether the device has waiting writes at all; spares looking at every document.
    func snapshot(isFromCache: Bool, mayBePending: Bool) -> QuerySnapshot? {
        let changes = view.takeChanges()
        let previous = list
        list = view.documents
        let metadata = SnapshotMetadata(
            isFromCache: isFromCache,
            hasPendingWrites: mayBePending && list.contains { $0.metadata.hasPendingWrites })
        let told = options.includesMetadataChanges ? changes : changes.filter { $0.kind != .metadata }
        let isFirst = self.metadata == nil
        let isNewMetadata = options.includesMetadataChanges && self.metadata != metadata
        self.metadata = metadata
        guard isFirst || !told.isEmpty || isNewMetadata else { return nil }
        return QuerySnapshot(query: query, documents: list, changes: told, metadata: metadata, since: previous)
            .projected
    }
}

/// One stream of a document. Belongs to a ``MockDevice``.
final class DocumentListener {
    let path: StoragePath
    let options: ListenOptions
    let continuation: SnapshotStream<DocumentSnapshot, StorageError>.Continuation
    private var last: DocumentSnapshot?

    init(
        _ path: StoragePath, _ options: ListenOptions,
        _ continuation: SnapshotStream<DocumentSnapshot, StorageError>.Continuation
    ) {
        self.path = path
        self.options = options
        self.continuation = continuation
    }

    /// The snapshot to tell, or `nil` when only metadata changed and nobody asked for that.
    func take(_ document: DocumentSnapshot) -> DocumentSnapshot? {
        guard let last else {
            self.last = document
            return document
        }
        self.last = document
        let isChanged =
            options.includesMetadataChanges
            ? last != document : last.data != document.data || last.updateTime != document.updateTime
        return isChanged ? document : nil
    }
}

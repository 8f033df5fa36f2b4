import Switchyard

/// A stream of query results. It belongs to a ``MockDevice`` and, like that, has no lock.
final class QueryListener {
    /// The device's number for it, set when it is added.
    var id = 0
    let continuation: SnapshotStream<QuerySnapshot, StorageError>.Continuation
    let options: ListenOptions
    let query: Query
    private let evaluator: QueryEvaluator
    /// Keeps little more than its limit needs, since the database can refill it at any time.
    private var view: QueryView
    private var list = DocumentList()
    private var metadata: SnapshotMetadata?

    init(
        _ query: Query, _ options: ListenOptions,
        _ continuation: SnapshotStream<QuerySnapshot, StorageError>.Continuation
    ) {
        view = QueryView(query, reserve: 16)
        evaluator = view.evaluator
        self.query = query
        self.options = options
        self.continuation = continuation
    }

    /// The documents currently in the view.
    var documents: DocumentList { list }

    /// Whether the view lost so many documents that only those beyond its limit could fill the gap.
    var needsRefill: Bool { query.limit != nil && view.needsRefill }

    /// - Parameter isConcerned: Set to true for each document that is, was or would be in the view.
    /// - Returns: Whether the view's contents changed.
    func take(_ documents: [DocumentSnapshot], noting isConcerned: inout [Bool]) -> Bool {
        var hasChanged = false
        for index in documents.indices {
            let isMatch = evaluator.matches(documents[index])
            let isChange = view.update(documents[index], isMatch: isMatch)
            if isMatch || isChange { isConcerned[index] = true }
            if isChange { hasChanged = true }
        }
        return hasChanged
    }

    /// Replaces all documents: at the start, when the connection changes, and for a refill.
    func reset(to documents: [DocumentSnapshot]) { view.reset(to: documents) }

    /// The snapshot after the last changes; `nil` if there is nothing to report.
    ///
    /// - Parameter mayBePending: Whether the device has queued writes at all, to avoid checking every document.
    func snapshot(isFromCache: Bool, mayBePending: Bool) -> QuerySnapshot? {
        let previous = list
        let changes: [DocumentChange]
        (changes, list) = view.takeResult()
        let metadata = SnapshotMetadata(
            isFromCache: isFromCache,
            hasPendingWrites: mayBePending && list.contains { $0.metadata.hasPendingWrites })
        let reportsMetadata = options.includesMetadataChanges || !changes.contains { $0.kind == .metadata }
        let reported = reportsMetadata ? changes : changes.filter { $0.kind != .metadata }
        let isFirst = self.metadata == nil
        let isNewMetadata = options.includesMetadataChanges && self.metadata != metadata
        self.metadata = metadata
        guard isFirst || !reported.isEmpty || isNewMetadata else { return nil }
        return QuerySnapshot(query: query, documents: list, changes: reported, metadata: metadata, since: previous)
            .projected
    }
}

/// A stream of one document. It belongs to a ``MockDevice``.
final class DocumentListener {
    /// The device's number for it, set when it is added.
    var id = 0
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

    /// The snapshot to report, or `nil` if only metadata changed and the listener did not request that.
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

public import Switchyard

/// The result of a read, and its time.
public struct FetchedDocuments: Sendable {
    public var documents: [DocumentSnapshot]
    public var readTime: Timestamp
    /// When missing documents were deleted, if the server reports it; others are missing as of ``readTime``.
    public var deletionTimes: [StoragePath: Timestamp]
    /// How many results the server counted towards the query's limit: more than there are ``documents`` if some of them
    /// cannot be documents, such as rows with impossible names. Pages and scans go on as long as it reaches the limit.
    public var rowCount: Int
    /// The tags of the ``documents`` that have one; see ``SyncDriverTraits/usesTags``.
    public var tags: [StoragePath: DocumentTag]
    /// Whether ``documents`` are the results of a query just as the server decided and ordered them, so that they are not
    /// evaluated again: the counterpart of ``WatchEvent/results(target:_:)``.
    public var areDecided = false

    /// By default, `rowCount` is the number of documents.
    public init(
        documents: [DocumentSnapshot], readTime: Timestamp, deletionTimes: [StoragePath: Timestamp] = [:],
        rowCount: Int? = nil, tags: [StoragePath: DocumentTag] = [:]
    ) {
        self.documents = documents
        self.readTime = readTime
        self.deletionTimes = deletionTimes
        self.rowCount = rowCount ?? documents.count
        self.tags = tags
    }

    /// The document behind which more results may follow, as the server sees it: the last one, if the limit has cut off the
    /// rest.
    func cut(by query: Query) -> QueryCut? {
        guard case .first(let count)? = query.limit, rowCount >= count else { return nil }
        return QueryCut(behind: documents.last)
    }
}

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
    public var tags: [StoragePath: DocumentTag] {
        get { tagList.byPath(documents) }
        set { tagList = .byPath(newValue) }
    }
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
        tagList = .byPath(tags)
    }

    /// The same, with a tag for each of the documents, or none at all.
    package init(documents: [DocumentSnapshot], readTime: Timestamp, rowCount: Int, tags: DocumentTagList?) {
        self.init(documents: documents, readTime: readTime, rowCount: rowCount)
        if let tags { tagList = .inOrder(tags) }
    }

    private var tagList: TagList

    private enum TagList: Sendable {
        case byPath([StoragePath: DocumentTag])
        case inOrder(DocumentTagList)

        func byPath(_ documents: [DocumentSnapshot]) -> [StoragePath: DocumentTag] {
            switch self {
            case .byPath(let tags): tags
            case .inOrder(let tags):
                Dictionary(
                    documents.indices.prefix(tags.count).map { (documents[$0].path, tags[$0]) }
                ) { first, _ in first }
            }
        }
    }

    /// The tag of one of the ``documents``.
    func tag(ofDocument index: Int) -> DocumentTag? {
        switch tagList {
        case .byPath(let tags): tags.isEmpty ? nil : tags[documents[index].path]
        case .inOrder(let tags): index < tags.count ? tags[index] : nil
        }
    }

    /// As of when a document is missing, if it is.
    func missingTime(of path: StoragePath) -> Timestamp {
        deletionTimes.isEmpty ? readTime : deletionTimes[path] ?? readTime
    }

    /// The document behind which more results may follow, as the server sees it: the last one, if the limit has cut off the
    /// rest.
    func cut(by query: Query) -> QueryCut? {
        guard case .first(let count)? = query.limit, rowCount >= count else { return nil }
        return QueryCut(behind: documents.last)
    }
}

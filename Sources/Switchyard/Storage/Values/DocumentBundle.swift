/// Documents and named queries, packed on a server, for loading into a cache in one go.
///
/// Independent of the file format.
public struct DocumentBundle: Sendable, Equatable {
    /// The bundle's own name; a newer bundle with the same name replaces it.
    public var id: String
    /// The version of its format; kept in the record of loaded bundles.
    public var version: Int
    public var createTime: Timestamp
    public var namedQueries: [NamedQuery]
    public var documents: [Document]

    /// A query whose results are in the bundle, complete as of `readTime`.
    public struct NamedQuery: Sendable, Equatable {
        public var name: String
        public var query: Query
        public var readTime: Timestamp

        public init(name: String, query: Query, readTime: Timestamp) {
            self.name = name
            self.query = query
            self.readTime = readTime
        }
    }

    /// A document as it was when the bundle was packed.
    public struct Document: Sendable, Equatable {
        /// Without data if the document did not exist at `readTime`.
        public var snapshot: DocumentSnapshot
        public var readTime: Timestamp
        /// The names of the queries that include it.
        public var queries: [String]

        public init(snapshot: DocumentSnapshot, readTime: Timestamp, queries: [String]) {
            self.snapshot = snapshot
            self.readTime = readTime
            self.queries = queries
        }
    }

    public init(
        id: String, version: Int, createTime: Timestamp, namedQueries: [NamedQuery] = [], documents: [Document] = []
    ) {
        self.id = id
        self.version = version
        self.createTime = createTime
        self.namedQueries = namedQueries
        self.documents = documents
    }
}

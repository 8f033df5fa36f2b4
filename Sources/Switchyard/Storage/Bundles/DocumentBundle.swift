/// Documents and named queries that were packed on a server, to be loaded into a cache in one go.
///
/// Neutral: which file format it came from is the business of whoever read it.
package struct DocumentBundle: Sendable, Equatable {
    /// The bundle's own name; a bundle of the same name replaces it when it is newer.
    package var id: String
    package var version: Int
    package var createTime: Timestamp
    package var namedQueries: [NamedQuery]
    package var documents: [Document]

    /// A query whose results are in the bundle, complete as of `readTime`.
    package struct NamedQuery: Sendable, Equatable {
        package var name: String
        package var query: Query
        package var readTime: Timestamp

        package init(name: String, query: Query, readTime: Timestamp) {
            self.name = name
            self.query = query
            self.readTime = readTime
        }
    }

    package struct Document: Sendable, Equatable {
        /// Without data when the document did not exist at `readTime`.
        package var snapshot: DocumentSnapshot
        package var readTime: Timestamp
        /// The names of the queries of which it is a result.
        package var queries: [String]

        package init(snapshot: DocumentSnapshot, readTime: Timestamp, queries: [String]) {
            self.snapshot = snapshot
            self.readTime = readTime
            self.queries = queries
        }
    }

    package init(
        id: String, version: Int, createTime: Timestamp, namedQueries: [NamedQuery] = [], documents: [Document] = []
    ) {
        self.id = id
        self.version = version
        self.createTime = createTime
        self.namedQueries = namedQueries
        self.documents = documents
    }
}

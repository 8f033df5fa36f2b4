import Switchyard

/// An open transaction of a client.
///
/// It sees the documents of one moment and holds no locks: its reads are compared when it commits, and if anything has
/// changed it fails with `ABORTED`, so that the client retries. An abandoned transaction blocks nothing.
struct LocalTransaction: Sendable {
    static let lifetime: Int64 = 270
    static let idleLimit: Int64 = 60

    let isReadOnly: Bool
    let documents: LocalDocuments
    let readTime: Timestamp
    let startedAt: Timestamp
    var usedAt: Timestamp
    /// The version of each document read; `nil` for a missing one.
    private(set) var versions: [StoragePath: Timestamp?] = [:]
    /// Each query run, with the versions of its results.
    private(set) var queries: [Query: [StoragePath: Timestamp?]] = [:]

    init(isReadOnly: Bool, documents: LocalDocuments, readTime: Timestamp, now: Timestamp) {
        self.isReadOnly = isReadOnly
        self.documents = documents
        self.readTime = readTime
        startedAt = now
        usedAt = now
    }

    func hasRunOut(at now: Timestamp) -> Bool {
        now.seconds >= startedAt.seconds + LocalTransaction.lifetime
            || now.seconds >= usedAt.seconds + LocalTransaction.idleLimit
    }

    mutating func note(_ document: DocumentSnapshot) {
        if !isReadOnly { versions[document.path] = .some(document.updateTime) }
    }

    mutating func note(_ query: Query, _ results: [DocumentSnapshot]) {
        if !isReadOnly { queries[query] = LocalTransaction.versions(results) }
    }

    private static func versions(_ documents: [DocumentSnapshot]) -> [StoragePath: Timestamp?] {
        Dictionary(documents.map { ($0.path, $0.updateTime) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether all reads would return the same now.
    func holds(in current: LocalDocuments) -> Bool {
        versions.allSatisfy { current[$0.key]?.updateTime == $0.value }
            && queries.allSatisfy { LocalTransaction.versions(current.results(of: $0.key)) == $0.value }
    }
}

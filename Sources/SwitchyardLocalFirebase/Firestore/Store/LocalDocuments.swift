import Switchyard

/// The documents of one database, by collection. It is a value: a copy is a consistent snapshot, and costs nothing until one of
/// the two changes.
struct LocalDocuments: Sendable {
    private var collections: [CollectionPath: [StoragePath: DocumentSnapshot]] = [:]

    subscript(path: StoragePath) -> DocumentSnapshot? { collections[path.collection]?[path] }

    /// The document, or a snapshot of a missing one.
    func snapshot(_ path: StoragePath) -> DocumentSnapshot { self[path] ?? .missing(path) }

    var all: some Sequence<DocumentSnapshot> { collections.values.lazy.flatMap(\.values) }

    /// Stores the current state of a document, which may be missing.
    mutating func store(_ document: DocumentSnapshot) {
        let collection = document.path.collection
        guard document.exists else {
            collections[collection]?[document.path] = nil
            if collections[collection]?.isEmpty == true { collections[collection] = nil }
            return
        }
        collections[collection, default: [:]][document.path] = document
    }

    /// All documents that a query has to check.
    func candidates(for source: Query.Source) -> any Sequence<DocumentSnapshot> {
        switch source {
        case .collection(let path): collections[path]?.values.map { $0 } ?? []
        case .group(let id, let ancestor):
            collections.lazy.filter { collection, _ in
                guard collection.id.utf8.elementsEqual(id.utf8) else { return false }
                guard let ancestor else { return true }
                return collection.parent.map { $0 == ancestor || $0.isBelow(ancestor) } ?? false
            }.flatMap(\.value.values)
        }
    }

    func results(of query: Query) -> [DocumentSnapshot] {
        let evaluator = QueryEvaluator(query)
        func results(_ documents: some Sequence<DocumentSnapshot>) -> [DocumentSnapshot] {
            evaluator.results(among: documents)
        }
        return results(candidates(for: query.source))
    }

    /// The collections below a document, or all; with `isDeep` also those further down.
    func collections(below parent: StoragePath?, isDeep: Bool) -> [CollectionPath] {
        collections.keys.filter { collection in
            guard isDeep else { return collection.parent == parent }
            return parent.map { ancestor in
                collection.parent.map { $0 == ancestor || $0.isBelow(ancestor) } ?? false
            } ?? true
        }
    }

    /// The names of the collections directly below a document, or at the top level, sorted.
    func collectionIDs(below parent: StoragePath?) -> [String] {
        var names: Set<UTF8Key> = []
        for collection in collections.keys {
            if let parent {
                guard collection.rawValue.utf8.starts(with: (parent.rawValue + "/").utf8) else { continue }
                names.insert(UTF8Key(collection.segments[parent.segments.count]))
            } else {
                names.insert(UTF8Key(collection.segments[0]))
            }
        }
        return names.map(\.string).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The missing documents of a collection that have something below them.
    func missingParents(in collection: CollectionPath) -> [StoragePath] {
        let depth = collection.segments.count
        var found: Set<StoragePath> = []
        for other in collections.keys where other.rawValue.utf8.starts(with: (collection.rawValue + "/").utf8) {
            let path = StoragePath(unchecked: other.segments.prefix(depth + 1).joined(separator: "/"))
            if self[path] == nil { found.insert(path) }
        }
        return Array(found)
    }
}

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
    private(set) var queries: [LocalSearch: [StoragePath: Timestamp?]] = [:]

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

    mutating func note(_ search: LocalSearch, _ results: [DocumentSnapshot]) {
        if !isReadOnly { queries[search] = LocalTransaction.versions(results) }
    }

    private static func versions(_ documents: [DocumentSnapshot]) -> [StoragePath: Timestamp?] {
        Dictionary(documents.map { ($0.path, $0.updateTime) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether all reads would return the same now.
    func holds(in current: LocalDocuments) -> Bool {
        versions.allSatisfy { current[$0.key]?.updateTime == $0.value }
            && queries.allSatisfy { LocalTransaction.versions($0.key.results(in: current)) == $0.value }
    }
}

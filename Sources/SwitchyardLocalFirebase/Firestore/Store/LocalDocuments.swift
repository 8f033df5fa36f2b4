import Switchyard

/// The documents of one database, by collection. A value: a copy is a consistent view of a moment, and costs nothing
/// until one of the two changes.
struct LocalDocuments: Sendable {
    private var collections: [CollectionPath: [StoragePath: DocumentSnapshot]] = [:]

    subscript(path: StoragePath) -> DocumentSnapshot? { collections[path.collection]?[path] }

    /// The document, or the fact that there is none.
    func snapshot(_ path: StoragePath) -> DocumentSnapshot { self[path] ?? .missing(path) }

    var all: some Sequence<DocumentSnapshot> { collections.values.lazy.flatMap(\.values) }

    /// Files what a document is now, which may be that it is gone.
    mutating func store(_ document: DocumentSnapshot) {
        let collection = document.path.collection
        guard document.exists else {
            collections[collection]?[document.path] = nil
            if collections[collection]?.isEmpty == true { collections[collection] = nil }
            return
        }
        collections[collection, default: [:]][document.path] = document
    }

    /// Everything that a query has to look at.
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

    /// The names of the collections directly below a document, or of those at the top, in order.
    func collectionIDs(below parent: StoragePath?) -> [String] {
        var names: Set<String> = []
        for collection in collections.keys {
            if let parent {
                guard collection.rawValue.utf8.starts(with: (parent.rawValue + "/").utf8) else { continue }
                names.insert(collection.segments[parent.segments.count])
            } else {
                names.insert(collection.segments[0])
            }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Documents of a collection that are not there but have something below them.
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

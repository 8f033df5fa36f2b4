import Switchyard

/// Documents by path, and in a contiguous array per collection, so that a lookup is one hash and a query one pass over an
/// array.
struct DocumentTable: Sendable {
    /// The documents of one collection, in no particular order.
    struct Rows: Sendable {
        fileprivate(set) var documents: [DocumentSnapshot] = []
    }

    private struct Place {
        let collection: Int
        var row: Int
    }

    /// Increases with every change.
    private(set) var version = 0
    private var places: [StoragePath: Place] = [:]
    private var collections: [Rows] = []
    private var indices: [CollectionPath: Int] = [:]
    private var groups: [UTF8Key: [CollectionPath]] = [:]

    subscript(path: StoragePath) -> DocumentSnapshot? {
        places[path].map { collections[$0.collection].documents[$0.row] }
    }

    var count: Int { places.count }
    var all: some Sequence<DocumentSnapshot> { collections.lazy.flatMap(\.documents) }

    func documents(in collection: CollectionPath) -> [DocumentSnapshot] {
        indices[collection].map { collections[$0].documents } ?? []
    }

    /// The non-empty collections that a query covers.
    func collections(of source: Query.Source) -> [CollectionPath] {
        switch source {
        case .collection(let path): [path]
        case .group(let id, nil): groups[UTF8Key(id)] ?? []
        case .group(let id, let ancestor?):
            groups[UTF8Key(id)]?.filter { $0.parent.map { $0 == ancestor || $0.isBelow(ancestor) } ?? false } ?? []
        }
    }

    var occupied: [CollectionPath] { indices.filter { !collections[$0.value].documents.isEmpty }.map(\.key) }

    /// Stores the current state of a document. A missing document can be stored too, so that it is known to be missing.
    mutating func store(_ document: DocumentSnapshot) {
        version += 1
        if let place = places[document.path] {
            collections[place.collection].documents[place.row] = document
            return
        }
        let index = index(of: document.path.collection)
        places[document.path] = Place(collection: index, row: collections[index].documents.count)
        collections[index].documents.append(document)
    }

    mutating func remove(_ path: StoragePath) {
        version += 1
        guard let place = places.removeValue(forKey: path) else { return }
        let last = collections[place.collection].documents.removeLast()
        guard last.path != path else { return }
        collections[place.collection].documents[place.row] = last
        places[last.path]?.row = place.row
    }

    private mutating func index(of collection: CollectionPath) -> Int {
        if let index = indices[collection] { return index }
        indices[collection] = collections.count
        groups[UTF8Key(collection.id), default: []].append(collection)
        collections.append(Rows())
        return collections.count - 1
    }
}

package import Switchyard

extension MemoryRows {
    func document(at path: StoragePath) -> CachedDocument? { documents[path]?.document }

    func documents(at paths: [StoragePath]) -> [CachedDocument?] { paths.map { documents[$0]?.document } }

    func heads(at paths: [StoragePath], numbering number: Int64?) -> [CachedDocument.Head?] {
        guard let number else { return paths.map { documents[$0]?.head } }
        return setNumber(number, of: paths) { $0.head }
    }

    func knownTags(at paths: some Collection<StoragePath>) -> [StoragePath: DocumentTag] {
        var tags: [StoragePath: DocumentTag] = [:]
        for path in paths { tags[path] = documents[path]?.document?.knownTag }
        return tags
    }

    func forEachDocument(
        in source: Query.Source, readAfter version: Timestamp?, screen: DocumentPrefilter?,
        _ body: (CachedDocument) throws(StorageError) -> Void
    ) throws(StorageError) {
        for collection in paths(in: source) {
            for path in collections[collection]?.paths ?? [] {
                guard let document = documents[path]?.document else { continue }
                if let version, document.readTime <= version { continue }
                if let screen, !screen.admits(document) { continue }
                try body(document)
            }
        }
    }

    private func paths(in source: Query.Source) -> [CollectionPath] {
        switch source {
        case .collection(let path): [path]
        case .group(let id, let ancestor): collections.keys.filter { $0.isInGroup(id, under: ancestor) }
        }
    }

    func putDocument(_ document: CachedDocument, replacing old: CachedDocument?) {
        setDocument(document, at: document.path, replacing: old)
    }

    func removeDocument(at path: StoragePath) {
        setSequence(nil, of: path)
        setDocument(nil, at: path, replacing: document(at: path))
    }

    func setDocument(_ document: CachedDocument?, at path: StoragePath, replacing old: CachedDocument?) {
        guard old != nil || document != nil else { return }
        noteDocument(old, at: path)
        change(path) { $0.document = document }
        documentBytes += (document?.storedBytes ?? 0) - (old?.storedBytes ?? 0)
        if old == nil {
            collection(of: path).paths.insert(path)
        } else if document == nil {
            let collection = collection(of: path)
            collection.paths.remove(path)
            if collection.paths.isEmpty {
                collections[collection.path] = nil
                lastCollection = nil
            }
        }
    }

    /// Changes what there is at a path.
    func change(_ path: StoragePath, _ body: (MemoryDocument) -> Void) {
        func change(_ entry: inout MemoryDocument?) {
            let changed = entry ?? MemoryDocument()
            body(changed)
            entry = changed.isEmpty ? nil : changed
        }
        // In place, so that it is looked up once.
        change(&documents[path])
    }

    private func collection(of path: StoragePath) -> MemoryCollection {
        if let lastCollection, path.isDirectly(in: lastCollection.path) { return lastCollection }
        let collection = collections[path.collection] ?? MemoryCollection(path.collection)
        collections[collection.path] = collection
        lastCollection = collection
        return collection
    }
}

/// What there is at a path: an object, since many are looked up of which little is needed.
final class MemoryDocument {
    var document: CachedDocument? {
        didSet { head = document?.head }
    }
    /// Beside the document, whose parts are elsewhere in memory: most reads need no more.
    private(set) var head: CachedDocument.Head?
    var number: Int64?

    var isEmpty: Bool { document == nil && number == nil }
}

/// The documents of one collection.
final class MemoryCollection {
    let path: CollectionPath
    var paths: Set<StoragePath> = []

    init(_ path: CollectionPath) { self.path = path }
}

extension CollectionPath {
    package func isInGroup(_ id: String, under ancestor: StoragePath?) -> Bool {
        guard self.id.utf8Equals(id) else { return false }
        guard let ancestor else { return true }
        return parent.map { $0 == ancestor || $0.isBelow(ancestor) } ?? false
    }
}

extension CachedDocument {
    var storedBytes: Int64 { Int64(path.rawValue.utf8.count + 32 + (data?.storedBytes ?? 0)) }
}

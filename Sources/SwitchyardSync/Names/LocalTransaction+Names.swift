import Switchyard

/// The names that the server has made for documents of this device, in place of those that they had here.
extension LocalTransaction {
    /// The document under its current name.
    func named(_ path: StoragePath) throws(StorageError) -> StoragePath {
        guard let provisional, path.isValid else { return path }
        var path = path
        // From the top: the name of a document is known under that of its parent.
        for depth in path.lineage.indices {
            let document = path.lineage[depth]
            guard provisional.isProvisional(document), let name = try rows.name(of: document, for: owner) else {
                continue
            }
            path = path.moved(from: document, to: name)
        }
        return path
    }

    func named(_ writes: [DocumentWrite]) throws(StorageError) -> [DocumentWrite] {
        guard provisional != nil else { return writes }
        let names = try names(
            of: Set(collecting: { note in for write in writes { _ = write.mappingPaths(note) } }))
        return names.isEmpty ? writes : writes.map { $0.mappingPaths { names[$0] ?? $0 } }
    }

    func named(_ query: LiveQuery) throws(StorageError) -> LiveQuery {
        guard provisional != nil else { return query }
        let names = try names(of: Set(collecting: { note in _ = query.mappingPaths(note) }))
        return names.isEmpty ? query : query.mappingPaths { names[$0] ?? $0 }
    }

    /// What a batch, whose names are the current ones, has to wait for.
    ///
    /// - Throws: If it mentions a document that no one has added, and does not add it by itself.
    func expectation(of writes: [DocumentWrite]) throws(StorageError) -> Expectation {
        guard let provisional else { return Expectation() }
        var expectation = Expectation()
        var references: Set<StoragePath> = []
        for write in writes {
            expectation.documents.formUnion(provisional.documents(on: write.path))
            references.formUnion(write.references)
        }
        for path in references {
            expectation.documents.formUnion(provisional.documents(on: path))
        }
        for document in expectation.documents.sorted() {
            // Its addition is the first that is pending on it.
            if try rows.overlay(of: owner, at: document) != nil { continue }
            guard let write = writes.first(where: { $0.path == document }), !references.contains(document) else {
                throw .unknownAddition(document)
            }
            guard write.isAddition else { throw .unnamedDocument(document) }
            guard writes.count == 1 else { throw .sharedAddition(document) }
            expectation.isAddition = true
        }
        return expectation
    }

    /// The current names of those of the paths that have got one.
    func names(of paths: some Sequence<StoragePath>) throws(StorageError) -> [StoragePath: StoragePath] {
        var names: [StoragePath: StoragePath] = [:]
        for path in paths {
            let name = try named(path)
            if name != path { names[path] = name }
        }
        return names
    }
}

extension DocumentWrite {
    /// The documents to which its values refer.
    var references: Set<StoragePath> { Set(collecting: { note in _ = mappingReferences(note) }) }

    /// Whether it can bring a document into being whose name the server makes.
    fileprivate var isAddition: Bool {
        guard case .set = operation else { return false }
        return precondition == .none || precondition == .exists(false)
    }
}

extension Set<StoragePath> {
    /// The paths that `visit` passes on, as the mapping of paths does with each one that it meets.
    init(collecting visit: ((StoragePath) -> StoragePath) -> Void) {
        var paths: Set<StoragePath> = []
        visit { path in
            paths.insert(path)
            return path
        }
        self = paths
    }
}

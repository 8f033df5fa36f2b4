/// Entry points; see ``CollectionHandle`` and ``TypedCollection``.
extension StorageClient {
    public func collection(_ path: CollectionPath) -> CollectionHandle { CollectionHandle(storage: self, path: path) }

    /// A handle for the document at `path`.
    public func handle(_ path: StoragePath) -> DocumentHandle { DocumentHandle(storage: self, path: path) }

    /// All collections whose last segment is `id`, everywhere or below `ancestor`.
    public func collectionGroup(_ id: String, under ancestor: StoragePath? = nil) -> QueryHandle {
        QueryHandle(storage: self, query: Query(group: id, under: ancestor))
    }

    /// A collection whose documents are values of a `Codable` type.
    public func collection<Value: Codable & Sendable>(
        _ path: CollectionPath, of type: Value.Type, by coder: DocumentCoder = .standard
    ) -> TypedCollection<Value> { TypedCollection(storage: self, path: path, converter: DocumentConverter(coder)) }

    /// A collection whose documents are values of a type with its own conversion.
    public func collection<Value: DocumentConvertible>(
        _ path: CollectionPath, of type: Value.Type
    ) -> TypedCollection<Value> { TypedCollection(storage: self, path: path, converter: .own) }

    /// For a type that is both, uses its own conversion.
    public func collection<Value: DocumentConvertible & Codable>(
        _ path: CollectionPath, of type: Value.Type
    ) -> TypedCollection<Value> { TypedCollection(storage: self, path: path, converter: .own) }

    /// All collections whose last segment is `id`, their documents as values of a `Codable` type.
    public func collectionGroup<Value: Codable & Sendable>(
        _ id: String, of type: Value.Type, under ancestor: StoragePath? = nil, by coder: DocumentCoder = .standard
    ) -> TypedQuery<Value> {
        TypedQuery(storage: self, query: Query(group: id, under: ancestor), converter: DocumentConverter(coder))
    }

    /// All collections whose last segment is `id`, their documents as values of a type with its own conversion.
    public func collectionGroup<Value: DocumentConvertible>(
        _ id: String, of type: Value.Type, under ancestor: StoragePath? = nil
    ) -> TypedQuery<Value> {
        TypedQuery(storage: self, query: Query(group: id, under: ancestor), converter: .own)
    }

    /// For a type that is both, uses its own conversion.
    public func collectionGroup<Value: DocumentConvertible & Codable>(
        _ id: String, of type: Value.Type, under ancestor: StoragePath? = nil
    ) -> TypedQuery<Value> {
        TypedQuery(storage: self, query: Query(group: id, under: ancestor), converter: .own)
    }
}

/// Shorthands for common tasks.
extension StorageClient {
    /// Whether there is a document at `path`. Reads it.
    public func exists(_ path: StoragePath) async throws(StorageError) -> Bool {
        try await document(path).exists
    }

    /// The first result of `query`, or `nil`. Reads no more than that.
    public func first(of query: Query) async throws(StorageError) -> DocumentSnapshot? {
        if case .last = query.limit { return try await documents(query).documents.first }
        return try await documents(query.limited(to: 1)).documents.first
    }

    /// The sum of the numbers in `field` over the results of `query`; 0 if there are none.
    public func sum(of field: FieldPath, in query: Query) async throws(StorageError) -> Double {
        try await aggregate(query, [.sum(field)]).first?.doubleValue ?? 0
    }

    /// The mean of the numbers in `field` over the results of `query`; `nil` if there are none.
    public func average(of field: FieldPath, in query: Query) async throws(StorageError) -> Double? {
        try await aggregate(query, [.average(field)]).first?.doubleValue
    }

    /// The collections at the top.
    public func collections() async throws(StorageError) -> [CollectionPath] {
        try await collections(under: nil)
    }
}

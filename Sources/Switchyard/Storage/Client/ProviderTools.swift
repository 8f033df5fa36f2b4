// For authors of providers whose backend cannot do this itself. The behaviour is exactly that of the other providers.

extension Query {
    /// The results of this query among `documents`: matched, sorted, limited and cut to the projection.
    ///
    /// Checks every document; for backends that cannot run queries, and small collections. Returns nothing for a query with a
    /// ``mistake``, which the client refuses earlier.
    public func results(among documents: some Sequence<DocumentSnapshot>) -> [DocumentSnapshot] {
        guard mistake == nil else { return [] }
        return QueryEvaluator(self).results(among: documents).projected(for: self)
    }

    /// Whether `document` matches, ignoring limits and offset.
    public func matches(_ document: DocumentSnapshot) -> Bool {
        mistake == nil && QueryEvaluator(self).matches(document)
    }
}

extension QuerySnapshot {
    /// The snapshot of a live query after `previous`: its changes lead from there to `documents`.
    ///
    /// For backends that do not say what changed: compares the two in linear time.
    public init(
        query: Query, documents: [DocumentSnapshot], following previous: QuerySnapshot?,
        metadata: SnapshotMetadata = SnapshotMetadata()
    ) {
        let list = DocumentList(inOrder: documents)
        let before = previous?.documents ?? DocumentList()
        self.init(
            query: query, documents: list,
            changes: ListDifference.changes(from: before, to: list, by: QueryEvaluator(query)), metadata: metadata,
            since: before)
    }
}

extension DocumentWrite {
    /// The document after this write. `time` is the commit time: it becomes the new version and replaces server times.
    ///
    /// - Throws: `.notFound`, `.alreadyExists` or `.failedPrecondition` if the precondition does not hold.
    public func carriedOut(on document: DocumentSnapshot, at time: Timestamp) throws(StorageError) -> DocumentSnapshot {
        try check(against: document)
        if case .verify = operation { return document }
        guard let data = applied(to: document.data, serverTime: time).data else { return .missing(document.path) }
        try DocumentLimits.checkSize(data, at: document.path)
        return .existing(
            document.path, data, createTime: document.createTime ?? time, updateTime: time)
    }
}

// For authors of providers whose backend cannot do these by itself. They mean exactly what the other providers mean.

extension Query {
    /// The results of this query among `documents`: matched, sorted, limited and cut to the projection.
    ///
    /// Looks at every document; for backends that cannot run queries, and small collections. None for a query with a
    /// ``mistake``, which the client refuses before it comes to this.
    public func results(among documents: some Sequence<DocumentSnapshot>) -> [DocumentSnapshot] {
        guard mistake == nil else { return [] }
        return QueryEvaluator(self).results(among: documents).map { $0.projected(for: self) }
    }

    /// Whether `document` matches, limits and offset aside.
    public func matches(_ document: DocumentSnapshot) -> Bool {
        mistake == nil && QueryEvaluator(self).matches(document)
    }
}

extension QuerySnapshot {
    /// The snapshot of a live query that follows `previous`: its changes lead from that one to `documents`.
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
    /// The document after this write; `time` is that of the commit: its new version, and what server times become.
    ///
    /// - Throws: `.notFound`, `.alreadyExists` or `.failedPrecondition` when the precondition does not hold.
    public func carriedOut(on document: DocumentSnapshot, at time: Timestamp) throws(StorageError) -> DocumentSnapshot {
        try check(against: document)
        if case .verify = operation { return document }
        guard let data = applied(to: document.data, serverTime: time).data else { return .missing(document.path) }
        try DocumentLimits.checkSize(data, at: document.path)
        return .existing(
            document.path, data, createTime: document.createTime ?? time, updateTime: time)
    }
}

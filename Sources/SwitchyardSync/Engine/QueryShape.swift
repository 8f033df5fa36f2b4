import Switchyard

/// Applies offset and projection, which the engine does not support, to its result.
struct QueryShape: Sendable {
    private let query: Query
    private var previous = DocumentList()

    init(_ query: Query) { self.query = query }

    /// The query for the engine: everything up to the end of the window, with all fields.
    static func live(_ query: Query) -> Query {
        guard query.offset > 0 || query.projection != nil else { return query }
        var live = query
        live.projection = nil
        live.offset = 0
        if case .first(let count) = query.limit { live.limit = .first(count + query.offset) }
        return live
    }

    mutating func take(_ snapshot: ViewSnapshot) -> QuerySnapshot {
        var documents = snapshot.documents
        var changes = snapshot.changes
        var hasPendingWrites = snapshot.hasPendingWrites
        if query.offset > 0 {
            documents = DocumentList(inOrder: Array(documents.dropFirst(query.offset)))
            // The results before the offset are not part of the result.
            hasPendingWrites = hasPendingWrites && documents.contains { $0.metadata.hasPendingWrites }
            changes =
                snapshot.isReordered
                ? ListDifference.changesByPosition(from: previous, to: documents)
                : ListDifference.changes(from: previous, to: documents, by: QueryEvaluator(query))
        }
        defer { previous = documents }
        return QuerySnapshot(
            query: query, documents: documents, changes: changes,
            metadata: SnapshotMetadata(
                isFromCache: snapshot.isFromCache, hasPendingWrites: hasPendingWrites,
                serverError: snapshot.serverError),
            since: previous, isReordered: snapshot.isReordered
        ).projected
    }
}

extension Query {
    /// The results among the answer to the query's ``QueryShape/live(_:)`` form.
    ///
    /// - Parameters:
    ///   - documents: The answer.
    ///   - areDecided: Whether the answer has the results in the server's order.
    func results(in documents: [DocumentSnapshot], areDecided: Bool) -> [DocumentSnapshot] {
        guard areDecided else { return QueryEvaluator(self).results(among: documents) }
        if offset == 0, limit == nil { return documents }
        let rest = documents.dropFirst(offset)
        return switch limit {
        case nil: Array(rest)
        case .first(let count): Array(rest.prefix(count))
        case .last(let count): Array(rest.suffix(count))
        }
    }
}

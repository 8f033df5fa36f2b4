package import Switchyard

/// The state of a view after a change, and the change.
package struct ViewSnapshot: Sendable {
    package var query: LiveQuery
    package var documents: DocumentList
    package var changes: [DocumentChange]
    package var isFromCache: Bool
    package var hasPendingWrites: Bool
    package var syncStateChanged: Bool
    /// Whether an earlier listen left a state to resume from, even if that has no documents.
    package var hasCachedResults: Bool
    /// Why it comes from the cache, if there is a problem reaching the server.
    package var serverError: StorageError?
    /// Whether the order, now or before the change, may be another than the query's own, because the server decides it.
    package var isReordered = false

    /// The same state for a new listener: all documents are added.
    package var asInitial: ViewSnapshot {
        var copy = self
        if changes.count != documents.count || changes.contains(where: { $0.kind != .added }) {
            copy.changes = documents.additions
        }
        copy.syncStateChanged = true
        return copy
    }
}

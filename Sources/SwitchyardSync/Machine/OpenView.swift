import Switchyard

/// A view with listeners.
struct OpenView {
    var view: View
    let target: Int
}

/// One listener. The last snapshot it saw determines the next one.
struct Listener {
    private(set) var query: LiveQuery
    let options: ViewOptions
    private var hasRaisedFirst = false
    private var hasBeenConfirmed = false
    private var last: ViewSnapshot?

    init(_ query: LiveQuery, _ options: ViewOptions) {
        self.query = query
        self.options = options
    }

    /// - Returns: The snapshot to deliver for a new state, if any.
    mutating func take(_ snapshot: ViewSnapshot, _ online: OnlineState, _ trouble: StorageError?) -> ViewSnapshot? {
        var snapshot = snapshot
        snapshot.serverError = snapshot.isFromCache ? trouble : nil
        if !options.includesMetadataChanges { snapshot.changes.removeAll { $0.kind == .metadata } }
        defer { last = snapshot }
        let isConfirmation = !snapshot.isFromCache && !hasBeenConfirmed
        if isConfirmation { hasBeenConfirmed = true }
        guard hasRaisedFirst else {
            guard isReadyForFirst(snapshot, online) else { return nil }
            hasRaisedFirst = true
            return snapshot.asInitial
        }
        if !snapshot.changes.isEmpty || (isConfirmation && options.announcesConfirmation) { return snapshot }
        let pendingChanged = last.map { $0.hasPendingWrites != snapshot.hasPendingWrites } ?? false
        guard snapshot.syncStateChanged || pendingChanged, options.includesMetadataChanges else { return nil }
        return snapshot
    }

    /// Goes on with a query that says the new name of a document.
    ///
    /// - Returns: The snapshot to deliver, if any.
    mutating func move(
        to snapshot: ViewSnapshot, _ online: OnlineState, _ trouble: StorageError?
    ) -> ViewSnapshot? {
        query = snapshot.query
        // The server has yet to confirm the results of this one.
        hasBeenConfirmed = false
        guard let last else { return take(snapshot, online, trouble) }
        var snapshot = snapshot
        snapshot.changes = ViewDifference.changes(from: last.documents, to: snapshot.documents, inOrderOf: nil)
        snapshot.isReordered = true
        snapshot.syncStateChanged = last.isFromCache != snapshot.isFromCache
        return take(snapshot, online, trouble)
    }

    /// A snapshot without documents, for when everything has been deleted.
    var emptySnapshot: ViewSnapshot? {
        guard hasRaisedFirst, var snapshot = last else { return nil }
        snapshot.documents = DocumentList()
        snapshot.changes = (last?.documents ?? DocumentList()).map {
            DocumentChange(kind: .removed, document: $0, oldIndex: 0, newIndex: nil)
        }
        (snapshot.isFromCache, snapshot.hasPendingWrites) = (true, false)
        snapshot.syncStateChanged = true
        return snapshot
    }

    mutating func onlineStateChanged(_ online: OnlineState, _ trouble: StorageError?) -> ViewSnapshot? {
        guard var last, !hasRaisedFirst, isReadyForFirst(last, online) else { return nil }
        hasRaisedFirst = true
        if last.isFromCache { last.serverError = trouble }
        self.last = last
        return last.asInitial
    }

    /// - Returns: The last state again, if the reason why it comes from the cache has changed.
    mutating func failed(_ trouble: StorageError) -> ViewSnapshot? {
        guard options.reportsServerErrors, !options.readsCacheOnly, hasRaisedFirst,
            var snapshot = last, snapshot.isFromCache,
            snapshot.serverError?.code != trouble.code || snapshot.serverError?.message != trouble.message
        else { return nil }
        snapshot.serverError = trouble
        snapshot.changes = []
        snapshot.syncStateChanged = false
        last = snapshot
        return snapshot
    }

    private func isReadyForFirst(_ snapshot: ViewSnapshot, _ online: OnlineState) -> Bool {
        if !snapshot.isFromCache || options.readsCacheOnly { return true }
        if options.waitsForSync && online != .offline { return false }
        return !snapshot.documents.isEmpty || snapshot.hasCachedResults || online == .offline
    }
}

// Handles and queries are equal if they are of one client, one place and one type, however they decode it.

extension QueryHandle: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        left.query == right.query && left.storage.identity == right.storage.identity
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(query) }
}

extension TypedCollection: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        left.path == right.path && left.storage.identity == right.storage.identity
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

extension TypedDocument: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        left.path == right.path && left.storage.identity == right.storage.identity
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

extension TypedQuery: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        left.query == right.query && left.storage.identity == right.storage.identity
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(query) }
}

extension TypedSnapshot: Equatable {
    /// Snapshots are equal if they show the same documents of the same query and client, with the same metadata and the same
    /// server error. What changed since the snapshots before them does not count. The values need not be `Equatable`: they
    /// are made from the documents.
    public static func == (left: Self, right: Self) -> Bool {
        left.snapshot.query == right.snapshot.query && left.metadata.isShownLike(right.metadata)
            && left.mismatches == right.mismatches && left.snapshot.documents == right.snapshot.documents
            && left.origin.storage.identity == right.origin.storage.identity
    }
}

extension TypedSnapshot.Row: Equatable {
    /// Rows are equal if they show the same document of the same client.
    public static func == (left: Self, right: Self) -> Bool {
        left.document == right.document && left.origin.storage.identity == right.origin.storage.identity
    }
}

extension TypedDocumentSnapshot: Equatable {
    /// Snapshots are equal if they show the same document, with the same metadata and the same server error.
    public static func == (left: Self, right: Self) -> Bool {
        left.document == right.document && left.document.metadata.isShownLike(right.document.metadata)
            && left.mismatch == right.mismatch
    }
}

extension SnapshotMetadata {
    /// Whether a screen shows both in the same way: unlike `==`, this counts the server error.
    fileprivate func isShownLike(_ other: SnapshotMetadata) -> Bool {
        self == other && serverError == other.serverError
    }
}

package import Switchyard

/// A document in the cache: its last state from the server, or after an acknowledged write.
package struct CachedDocument: Sendable, Equatable {
    package enum State: UInt8, Sendable {
        case found
        /// The server said that the document does not exist.
        case missing
        /// A write was acknowledged for a document that was never read: it has a version and unknown contents.
        case unknown
    }

    /// What there is to know of a document without its contents.
    package struct Head: Sendable, Equatable {
        package let state: State
        package let version: Timestamp
        package let hasCommittedMutations: Bool
    }

    package let path: StoragePath
    package var state: State
    /// The fields; `nil` unless ``state`` is `found`.
    package var data: DocumentData?
    package var createTime: Timestamp?
    package var version: Timestamp
    /// The version of the snapshot with which this was stored, to find later changes without a full scan.
    package var readTime: Timestamp
    /// Whether it includes an acknowledged write that the stream of changes has not shown yet.
    package var hasCommittedMutations: Bool
    /// The server's own version of these contents, if it has one without an order.
    package var tag: DocumentTag?

    package init(
        path: StoragePath, state: State, data: DocumentData? = nil, createTime: Timestamp? = nil, version: Timestamp,
        readTime: Timestamp = .never, hasCommittedMutations: Bool = false, tag: DocumentTag? = nil
    ) {
        self.path = path
        self.state = state
        self.data = data
        self.createTime = createTime
        self.version = version
        self.readTime = readTime
        self.hasCommittedMutations = hasCommittedMutations
        self.tag = tag
    }

    package var head: Head { Head(state: state, version: version, hasCommittedMutations: hasCommittedMutations) }

    /// The tag, if the contents next to it are the server's.
    package var knownTag: DocumentTag? { state == .found && !hasCommittedMutations ? tag : nil }

    package static func found(
        _ path: StoragePath, _ data: DocumentData, version: Timestamp, createTime: Timestamp? = nil
    ) -> CachedDocument {
        CachedDocument(path: path, state: .found, data: data, createTime: createTime, version: version)
    }

    package static func missing(_ path: StoragePath, version: Timestamp) -> CachedDocument {
        CachedDocument(path: path, state: .missing, version: version)
    }

    /// The snapshot for views without local writes.
    package var snapshot: DocumentSnapshot {
        DocumentSnapshot(
            path: path, data: state == .found ? data : nil, createTime: state == .found ? createTime : nil,
            updateTime: state == .found && version != .never ? version : nil,
            metadata: SnapshotMetadata(
                isFromCache: false, localState: hasCommittedMutations || state == .unknown ? .committed : .none))
    }
}

/// A document as it was at one moment, or the fact that it did not exist.
public struct DocumentSnapshot: Sendable, Hashable, Identifiable {
    public let path: StoragePath
    /// The fields; `nil` when the document does not exist.
    public let data: DocumentData?
    /// When the document was created; `nil` for one that is missing or known only from a local write.
    public let createTime: Timestamp?
    /// The document's version: when it last changed on the server. `nil` like ``createTime``.
    public let updateTime: Timestamp?
    public let metadata: SnapshotMetadata

    package init(
        path: StoragePath, data: DocumentData?, createTime: Timestamp? = nil, updateTime: Timestamp? = nil,
        metadata: SnapshotMetadata = SnapshotMetadata()
    ) {
        self.path = path
        self.data = data
        self.createTime = createTime
        self.updateTime = updateTime
        self.metadata = metadata
    }

    /// The document's own name within its collection.
    public var id: String { path.id }
    public var exists: Bool { data != nil }

    /// The value at `field`; `nil` if the field or the document is missing.
    public subscript(field: FieldPath) -> DocumentValue? { data?[field] }

    /// The same document with only the fields that `query` selects.
    package func projected(for query: Query) -> DocumentSnapshot {
        guard let fields = query.projection, let data else { return self }
        return DocumentSnapshot(
            path: path, data: data.projected(to: fields), createTime: createTime, updateTime: updateTime,
            metadata: metadata)
    }

    package func with(_ metadata: SnapshotMetadata) -> DocumentSnapshot {
        DocumentSnapshot(path: path, data: data, createTime: createTime, updateTime: updateTime, metadata: metadata)
    }
}

extension [DocumentSnapshot] {
    /// The same documents with only the fields that `query` selects.
    package func projected(for query: Query) -> [DocumentSnapshot] {
        query.projection == nil ? self : map { $0.projected(for: query) }
    }
}

extension DocumentSnapshot {
    /// A snapshot for a provider that you write, or for a preview.
    public static func existing(
        _ path: StoragePath, _ data: DocumentData, createTime: Timestamp? = nil, updateTime: Timestamp? = nil,
        metadata: SnapshotMetadata = SnapshotMetadata()
    ) -> DocumentSnapshot {
        DocumentSnapshot(path: path, data: data, createTime: createTime, updateTime: updateTime, metadata: metadata)
    }

    public static func missing(
        _ path: StoragePath, metadata: SnapshotMetadata = SnapshotMetadata()
    ) -> DocumentSnapshot {
        DocumentSnapshot(path: path, data: nil, metadata: metadata)
    }
}

/// Where a snapshot comes from and what is still pending.
public struct SnapshotMetadata: Sendable, Hashable {
    /// Whether the server has not confirmed that this is its current state. It may be outdated or incomplete.
    public var isFromCache: Bool
    /// Whether this includes local writes that the server has not confirmed.
    public var hasPendingWrites: Bool { localState == .pending }
    /// The progress of this device's own writes to the document.
    package var localState: LocalState
    private let error: ErrorBox?

    public init(isFromCache: Bool = false, hasPendingWrites: Bool = false, serverError: StorageError? = nil) {
        self.init(
            isFromCache: isFromCache, localState: hasPendingWrites ? .pending : .none, serverError: serverError)
    }

    package init(isFromCache: Bool, localState: LocalState, serverError: StorageError? = nil) {
        self.isFromCache = isFromCache
        self.localState = localState
        error = serverError.map(ErrorBox.init)
    }

    /// Why the server has not confirmed it: the error of the last attempt to reach the server, such as a rejected key or a
    /// lost network. `nil` while nothing is known to be wrong. It does not concern the contents, so comparing snapshots
    /// ignores it.
    public var serverError: StorageError? { error?.error }

    /// A class, because every document has metadata but few have this.
    private final class ErrorBox: Sendable {
        let error: StorageError
        init(_ error: StorageError) { self.error = error }
    }

    public static func == (left: SnapshotMetadata, right: SnapshotMetadata) -> Bool {
        left.isFromCache == right.isFromCache && left.localState == right.localState
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(isFromCache)
        hasher.combine(localState)
    }

    package enum LocalState: UInt8, Sendable, Hashable {
        case none
        /// Written here, not acknowledged.
        case pending
        /// Acknowledged, but not yet seen on the stream of changes.
        case committed
    }
}

extension DocumentSnapshot: CustomStringConvertible, CustomDebugStringConvertible {
    /// The path, the names and kinds of its fields (the first twenty of many) and their source, but never their values;
    /// `data?.revealed` shows those.
    ///
    /// ```
    /// todos/1 {done: bool, title: string} (from the cache)
    /// ```
    public var description: String {
        guard let data else { return "\(path) (\((["missing"] + metadata.words).joined(separator: ", ")))" }
        let fields =
            data.prefix(20).map { "\($0.name): \($0.value.kind)" }
            + (data.count > 20 ? ["\(data.count - 20) more"] : [])
        let words = metadata.words.isEmpty ? "" : " (\(metadata.words.joined(separator: ", ")))"
        return "\(path) {\(fields.joined(separator: ", "))}\(words)"
    }
    public var debugDescription: String { "DocumentSnapshot(\(description))" }
}

extension SnapshotMetadata: CustomStringConvertible {
    public var description: String { words.isEmpty ? "from the server" : words.joined(separator: ", ") }

    /// Empty if the server has confirmed everything.
    var words: [String] {
        (isFromCache ? ["from the cache"] : []) + (hasPendingWrites ? ["with pending writes"] : [])
            + (serverError.map { ["server not reached: \($0.code)"] } ?? [])
    }
}

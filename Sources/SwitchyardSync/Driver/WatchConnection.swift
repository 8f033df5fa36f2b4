public import Switchyard

/// One open stream of changes: requests go in, events come out, in order.
public protocol WatchConnection: Sendable {
    /// Requests another target, or the end of one. Never waits for the network; a connection that has ended ignores it.
    func send(_ request: WatchRequest)

    /// The next event; `nil` if the connection was closed normally.
    ///
    /// - Throws: Why the connection broke. The engine opens another one, after a pause that grows with each failure.
    func next() async throws(StorageError) -> WatchEvent?

    /// Ends it. A waiting ``next()`` returns.
    func close()
}

/// What the engine requests of a stream of changes.
public enum WatchRequest: Sendable, Hashable {
    case add(TargetRequest)
    /// Ends a target. Answer with ``WatchEvent/removed(_:cause:)`` without a cause.
    case remove(Int)
}

/// A target to watch, and where to resume.
public struct TargetRequest: Sendable, Hashable {
    /// Why it is watched. Backends may count the reasons; the answer is the same.
    public enum Purpose: Sendable, Hashable {
        case listen
        /// The cached results did not match the server's count, so all of them are requested again.
        case existenceFilterMismatch
        /// The same, although the server had said which documents are unchanged.
        case existenceFilterMismatchBloom
        /// Whether one document that only the cache shows still exists.
        case limboResolution
    }

    /// The ID of the target on this connection. A removed target may be added again under the same ID.
    public var id: Int
    public var target: WatchTarget
    public var purpose: Purpose
    /// The newest token for this target; empty to get everything.
    public var resumeToken: [UInt8]
    /// Where to begin without a token: changes after this time. `nil` to get everything.
    public var readTime: Timestamp?
    /// With a token or a read time: the number of documents that the server has confirmed for the target on this device.
    public var expectedCount: Int?
    /// With ``SyncDriverTraits/usesTags``: the tags of those confirmed documents whose cached contents are the server's. A
    /// document that still has its tag need not be sent again.
    public var knownTags: [StoragePath: DocumentTag]

    public init(
        id: Int, target: WatchTarget, purpose: Purpose = .listen, resumeToken: [UInt8] = [],
        readTime: Timestamp? = nil, expectedCount: Int? = nil, knownTags: [StoragePath: DocumentTag] = [:]
    ) {
        self.id = id
        self.target = target
        self.purpose = purpose
        self.resumeToken = resumeToken
        self.readTime = readTime
        self.expectedCount = expectedCount
        self.knownTags = knownTags
    }
}

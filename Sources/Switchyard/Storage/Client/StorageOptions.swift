/// The source of a read.
public enum ReadSource: Sendable, Hashable {
    /// The server, or the cache while there is no connection.
    case standard
    /// The server only; fails without a connection.
    case server
    /// The cache only; needs the offline capability. A document that is not cached throws `.unavailable`.
    case cache
}

/// How a stream of snapshots behaves.
public struct ListenOptions: Sendable, Hashable {
    public enum Source: Sendable, Hashable {
        case standard
        /// Only the cache: shows this device's data and writes without asking the server. Needs the offline capability.
        case cache
    }

    public var source: Source = .standard
    /// Whether a change of metadata alone (from cache, pending writes) is delivered as a snapshot.
    public var includesMetadataChanges = false

    public init(source: Source = .standard, includesMetadataChanges: Bool = false) {
        self.source = source
        self.includesMetadataChanges = includesMetadataChanges
    }
}

/// A value to compute over the results of a query.
public enum Aggregation: Sendable, Hashable {
    case count
    /// The sum of the field's numbers: whole if all are, 0 if there are none.
    case sum(FieldPath)
    /// The mean of the field's numbers; null if there are none.
    case average(FieldPath)
}

public struct TransactionOptions: Sendable, Hashable {
    /// The maximum number of attempts, at least 1.
    public var maximumAttempts = 5
    public init(maximumAttempts: Int = 5) { self.maximumAttempts = maximumAttempts }
}

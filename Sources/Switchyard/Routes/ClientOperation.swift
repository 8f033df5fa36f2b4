/// What a routed client is asked to do, for its ``Route``.
public struct ClientOperation: Sendable, Hashable, ExpressibleByStringLiteral {
    /// Such as `commit` or `sign in`.
    public let name: String
    /// Whether doing it again after a failure does no harm, even if only the answer to the first time was lost.
    public let isRepeatable: Bool
    /// Whether a stream ends with the client that it began on, where others move over to the next one.
    public let isPinned: Bool

    public init(_ name: String, isRepeatable: Bool = false, isPinned: Bool = false) {
        self.name = name
        self.isRepeatable = isRepeatable
        self.isPinned = isPinned
    }

    public init(stringLiteral name: String) { self.init(name) }

    /// What may be done again after a failure.
    public static func repeatable(_ name: String) -> ClientOperation { ClientOperation(name, isRepeatable: true) }
}

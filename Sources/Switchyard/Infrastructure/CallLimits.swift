/// Limits the number of concurrent calls to one server, and the number of calls that may wait for their turn.
///
/// An app never reaches these limits. They keep a server that acts for many users from overloading its backend: a call beyond
/// both fails at once with `overloaded`, unsent. The calls of all callers' clients count together. Open streams and sockets
/// are counted separately and do not block calls.
///
/// On Apple's platforms the system queues calls itself, so only ``underWay`` has an effect there.
public struct CallLimits: Sendable, Hashable {
    /// The maximum number of concurrent calls. Calls that share a connection are limited to what it can carry, usually 100.
    public var underWay: Int
    /// The maximum number of waiting calls, first come, first served.
    public var waiting: Int

    public init(underWay: Int = 256, waiting: Int = 16_384) {
        self.underWay = max(1, underWay)
        self.waiting = max(0, waiting)
    }
}

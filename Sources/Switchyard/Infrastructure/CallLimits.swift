/// How many calls a client makes at a time to one server, and how many more may wait for their turn.
///
/// An app never meets these. A server that acts for many people is held back by them instead of burying its backend: a call
/// beyond both ends at once with `overloaded`, unsent. What callers' clients ask for counts together. Streams and sockets that
/// stay open have places of their own and hold up no call.
///
/// On Apple's platforms the system queues calls by itself, and only ``underWay`` has a meaning there.
public struct CallLimits: Sendable, Hashable {
    /// Where calls share a connection, fewer are under way: as many as such a connection carries, mostly 100.
    public var underWay: Int
    /// How many wait, first come, first served.
    public var waiting: Int

    public init(underWay: Int = 256, waiting: Int = 16_384) {
        self.underWay = max(1, underWay)
        self.waiting = max(0, waiting)
    }
}

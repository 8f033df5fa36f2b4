/// How a local server listens, and its limits.
package struct ServerConfiguration: Sendable {
    /// Where it listens, with one port for all. An address that this machine does not have is left out as long as
    /// another one works.
    package var addresses: [LoopbackAddress] = [.ipv4, .ipv6]
    /// 0 picks a free one.
    package var port: UInt16 = 0
    package var limits = RequestLimits()
    /// Connections that the kernel completes before they are accepted.
    package var backlog: Int32 = 1024
    /// A server that accepts nothing is a black hole once its backlog is full.
    package var acceptsConnections = true
    /// Where faults can be switched over HTTP, such as "/_faults"; see `FaultControl`. `nil`: nowhere.
    package var faultControlPath: String?
    /// How long a connection that was ended by the server may take to empty and close.
    package var lingering: Duration = .seconds(2)

    package init() {}
}

/// What a server has seen so far.
package struct ServerStatistics: Sendable, Hashable {
    package var acceptedConnections = 0
    package var openConnections = 0
    package var requests = 0
    /// Handlers whose client went away before the answer was complete.
    package var abandonedRequests = 0
    package var runningHandlers = 0
}

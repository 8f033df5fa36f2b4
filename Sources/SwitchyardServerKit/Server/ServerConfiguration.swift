/// How a local server listens, and its limits.
package struct ServerConfiguration: Sendable {
    /// The addresses to listen on, all with the same port. An address that this machine does not have is skipped if another one
    /// works.
    package var addresses: [LoopbackAddress] = [.ipv4, .ipv6]
    /// 0 picks a free one.
    package var port: UInt16 = 0
    package var limits = RequestLimits()
    /// The number of connections that the kernel completes before they are accepted.
    package var backlog: Int32 = 1024
    /// Whether connections are accepted. If not, clients hang once the backlog is full.
    package var acceptsConnections = true
    /// The path for controlling faults over HTTP, such as "/_faults", see `FaultControl`; `nil` for none.
    package var faultControlPath: String?
    /// Whose requests are answered; `nil` for everybody's.
    package var visitors: ServerVisitors?
    /// How long a connection ended by the server may take to drain and close.
    package var lingering: Duration = .seconds(2)

    package init() {}
}

/// The server's counters so far.
package struct ServerStatistics: Sendable, Hashable {
    package var acceptedConnections = 0
    package var openConnections = 0
    package var requests = 0
    /// Handlers whose client disconnected before the answer was complete.
    package var abandonedRequests = 0
    package var runningHandlers = 0
}

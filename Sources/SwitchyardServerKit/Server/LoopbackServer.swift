import SwitchyardBytes
import Synchronization

/// A small HTTP/1.1 and WebSocket server for development and tests, which listens only on loopback addresses.
///
/// One thread transfers the bytes. Each request runs its handler in a separate task, which is cancelled when the client
/// disconnects.
package final class LoopbackServer: Sendable {
    package typealias Handler = @Sendable (ServerRequest) async -> ServerResponse
    package typealias ImmediateHandler = @Sendable (ServerRequest) -> ServerResponse?

    package let port: UInt16
    /// The addresses on which it listens; at least one.
    package let addresses: [LoopbackAddress]
    package let faults: FaultSwitches
    private let loop: ServerLoop

    /// Starts listening.
    ///
    /// - Parameter immediately: Called first, on the server's thread, for requests without a body; it must not wait. Its
    ///   answers need no task, for a server that must be faster than what is measured.
    package init(
        _ configuration: ServerConfiguration = ServerConfiguration(), faults: FaultSwitches = FaultSwitches(),
        immediately: ImmediateHandler? = nil, handler: @escaping Handler
    ) throws(ServerError) {
        let (listeners, addresses) = try Self.listen(configuration)
        self.addresses = addresses
        port = Socket.port(of: listeners[0])
        self.faults = faults
        do throws(ServerError) {
            loop = try ServerLoop(
                listeners: listeners, configuration: configuration, faults: faults, immediately: immediately,
                handler: handler)
            do throws(LoopThread.Refusal) {
                try LoopThread.start { [loop] in loop.run() }
            } catch {
                throw ServerError.cannotStart(error.code)
            }
        } catch {
            for listener in listeners { Socket.close(listener) }
            throw error
        }
    }

    /// Starts listening, on a port that may be taken: then on a free one.
    ///
    /// - Parameter port: The port to try first if the configuration names none; 0 for any.
    package convenience init(
        _ configuration: ServerConfiguration, preferring port: UInt16, handler: @escaping Handler
    ) throws(ServerError) {
        var first = configuration
        if configuration.port == 0 { first.port = port }
        do throws(ServerError) {
            try self.init(first, handler: handler)
        } catch {
            guard configuration.port == 0, port != 0, case .cannotListen = error else { throw error }
            try self.init(configuration, handler: handler)
        }
    }

    deinit { loop.submit(.stop) }

    /// Such as "http://127.0.0.1:8080", for the first address.
    package var url: String { "http://\(addresses[0]):\(port)" }

    package func url(_ path: String) -> String { url + path }

    package var statistics: ServerStatistics { loop.counts.withLock { $0 } }

    /// The rules for faults that are controlled over HTTP; `nil` if none are.
    package var faultControl: FaultControl? { loop.control }

    /// Who is shown the requests from now on; `nil` for no one.
    package func show(to observer: (any ExchangeObserver)?) { loop.observer.withLock { $0 = observer } }

    /// Ends all connections like a broken network, including streams and web sockets; new ones are accepted.
    package func dropConnections(reset: Bool = true) { loop.submit(.endOthers(than: nil, reset: reset)) }

    /// Closes everything and returns when all descriptors, threads and handlers have ended. Calling it again is harmless.
    package func stop() async {
        loop.submit(.stop)
        await loop.waitUntilFinished()
    }

    // MARK: Listening

    /// Opens one socket per address, all with the same port; if a free port is taken on another address, another one is tried.
    private static func listen(
        _ configuration: ServerConfiguration
    ) throws(ServerError) -> ([Int32], [LoopbackAddress]) {
        var lastError = ServerError.cannotListen(0)
        for _ in 0..<(configuration.port == 0 ? 16 : 1) {
            var listeners: [Int32] = []
            var addresses: [LoopbackAddress] = []
            var isPortTaken = false
            for address in configuration.addresses {
                let port = listeners.first.map { Socket.port(of: $0) } ?? configuration.port
                do throws(ServerError) {
                    listeners.append(try Socket.listen(on: address, port: port, backlog: configuration.backlog))
                    addresses.append(address)
                } catch {
                    lastError = error
                    if Socket.isAddressInUse(error) { isPortTaken = true }
                }
            }
            if !listeners.isEmpty, !isPortTaken { return (listeners, addresses) }
            for listener in listeners { Socket.close(listener) }
        }
        throw lastError
    }
}

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
    /// Whose requests are answered; `nil` for everyone's.
    package var visitors: ServerVisitors?
    /// What clients that speak gRPC are told to do instead, in the answer to each call; `nil` for a server without such clients,
    /// which refuses HTTP/2.
    package var http2Refusal: String?
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

/// Why the local server could not start, or could not transfer bytes for a handler.
package enum ServerError: Error, Hashable, Sendable {
    case notLoopback(String)
    /// With the system's error number.
    case cannotListen(Int32)
    case cannotStart(Int32)
    /// The client has disconnected, or the server stops.
    case disconnected
    case cancelled
    /// The body of a request ended early or had invalid framing.
    case badRequestBody
    case bodyTooLarge(limit: Int)
}

import SwitchyardBytes
import Synchronization

/// A small HTTP/1.1 and WebSocket server for development and tests. It listens on loopback addresses and on no others.
///
/// One thread moves the bytes; each request runs its handler in a task of its own, which is cancelled when the client
/// goes away.
package final class LoopbackServer: Sendable {
    package typealias Handler = @Sendable (ServerRequest) async -> ServerResponse
    package typealias ImmediateHandler = @Sendable (ServerRequest) -> ServerResponse?

    package let port: UInt16
    /// Where it listens; at least one address.
    package let addresses: [LoopbackAddress]
    package let faults: FaultSwitches
    private let loop: ServerLoop

    /// Starts listening.
    ///
    /// - Parameter immediately: asked first, on the server's thread, for requests without a body: it must not wait.
    ///   What it answers needs no task, which matters when the server is to be faster than what is measured.
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

    deinit { loop.submit(.stop) }

    /// Such as "http://127.0.0.1:8080", for the first address.
    package var url: String { "http://\(addresses[0]):\(port)" }

    package func url(_ path: String) -> String { url + path }

    package var statistics: ServerStatistics { loop.counts.withLock { $0 } }

    /// Ends every connection as a broken network would, streams and web sockets included; new ones are welcome.
    package func dropConnections(reset: Bool = true) { loop.submit(.endOthers(than: nil, reset: reset)) }

    /// Closes everything and returns when no descriptor, thread or handler is left. Harmless when repeated.
    package func stop() async {
        loop.submit(.stop)
        await loop.waitUntilFinished()
    }

    // MARK: Listening

    /// One socket per address, all on one port; a free port is tried again when another address has it taken.
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

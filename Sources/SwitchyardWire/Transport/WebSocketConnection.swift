/// The URL of a web socket and its limits.
package struct WebSocketRequest: Sendable {
    /// A `ws`, `wss`, `http` or `https` address.
    package var url: String
    package var headers: HTTPHeaders
    /// Offered to the server in this order.
    package var subprotocols: [String]
    /// The deadline for name resolution, connecting, TLS and the upgrade together.
    package var connectDeadline: Duration = .seconds(15)
    package var maximumMessageSize = 16 * 1024 * 1024
    package var maximumFrameSize = 16 * 1024 * 1024
    /// If this many bytes wait in the inbox, reading stops until half of them have been received.
    package var inboxLimit = 1024 * 1024
    /// Outgoing messages above this size are sent in frames of this size; `nil` sends each in one frame.
    package var fragmentSize: Int?
    package var keepAlive = WebSocketKeepAlive()

    package init(_ url: String, headers: HTTPHeaders = [:], subprotocols: [String] = []) {
        self.url = url
        self.headers = headers
        self.subprotocols = subprotocols
    }
}

extension WebSocketRequest: CustomStringConvertible, CustomReflectable {
    package var description: String { "WebSocket \(URLParts.redacted(url)) \(headers)" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

package enum WebSocketMessage: Sendable, Hashable {
    case text(String)
    case binary([UInt8])
}

/// Why a web socket ended.
package struct WebSocketClose: Sendable, Hashable {
    package var code: UInt16
    package var reason: String

    package init(code: UInt16, reason: String = "") {
        self.code = code
        self.reason = reason
    }

    package static let normal = WebSocketClose(code: 1000)
    package static let goingAway = WebSocketClose(code: 1001)
}

/// An open web socket.
package protocol WebSocketConnection: AnyObject, Sendable {
    /// The answer to the upgrade.
    var head: HTTPResponseHead { get }
    /// The subprotocol that the server chose from the offered ones.
    var subprotocol: String? { get }

    /// Queues the message, waiting only while too much is queued already. Messages are sent in the order of the calls.
    func send(_ message: WebSocketMessage) async throws(TransportError)

    /// The next message, or `nil` once the peer has closed normally (see `closed`). There can be only one caller at a time.
    ///
    /// A cancelled call loses nothing: the next one gets the message.
    func receive() async throws(TransportError) -> WebSocketMessage?

    /// Sends a ping and waits for its pong.
    func ping() async throws(TransportError)

    /// Starts the closing handshake and waits for its end, or a few seconds. Does nothing if already closed.
    func close(_ close: WebSocketClose) async

    /// How the peer has closed, if it has.
    var closed: WebSocketClose? { get }
}

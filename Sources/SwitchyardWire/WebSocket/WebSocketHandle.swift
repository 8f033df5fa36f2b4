/// The caller's reference to a session, which ends when the handle is released.
package final class WebSocketHandle: WebSocketConnection {
    package let head: HTTPResponseHead
    package let subprotocol: String?
    private let session: WebSocketSession

    package init(_ session: WebSocketSession, head: HTTPResponseHead, subprotocol: String?) {
        self.session = session
        self.head = head
        self.subprotocol = subprotocol
    }

    deinit { session.abandon() }

    package var closed: WebSocketClose? { session.closed }

    package func send(_ message: WebSocketMessage) async throws(TransportError) {
        if try !session.sendNow(message) { try await session.send(message) }
    }

    package func receive() async throws(TransportError) -> WebSocketMessage? {
        if let ready = session.receiveNow() { return try ready.get() }
        return try await session.receive()
    }

    package func ping() async throws(TransportError) { try await session.ping() }

    package func close(_ close: WebSocketClose) async { await session.close(close) }
}

import SwitchyardWire

/// Each message that comes has a lie of its own; what is sent arrives.
final class LyingSocket: WebSocketConnection {
    private let base: any WebSocketConnection
    private let liar: LyingTransport

    init(_ base: any WebSocketConnection, _ liar: LyingTransport) {
        self.base = base
        self.liar = liar
    }

    var head: HTTPResponseHead { base.head }
    var subprotocol: String? { base.subprotocol }
    var closed: WebSocketClose? { base.closed }

    func receive() async throws(TransportError) -> WebSocketMessage? {
        while let message = try await base.receive() {
            let lie = liar.choose()
            switch lie {
            case .nothing: continue
            case .lostBefore, .lostAfter:
                await base.close(.goingAway)
                throw LyingTransport.lost(true)
            default: break
            }
            guard case .text(let text) = message else { return message }
            liar.note("socket", Array(text.utf8))
            return .text(String(decoding: liar.damage(Array(text.utf8), by: lie), as: UTF8.self))
        }
        return nil
    }

    func send(_ message: WebSocketMessage) async throws(TransportError) { try await base.send(message) }
    func ping() async throws(TransportError) { try await base.ping() }
    func close(_ close: WebSocketClose) async { await base.close(close) }
}

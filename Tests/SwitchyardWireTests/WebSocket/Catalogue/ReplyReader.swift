import SwitchyardWire

/// The server's ear: what a client has sent, with every rule for clients enforced.
final class ReplyReader {
    enum Received: Sendable, Hashable {
        case reply(CatalogueCase.Reply)
        case ping
        case close(WebSocketClose)
    }

    private var decoder = WebSocketDecoder(role: .server)
    private(set) var violation: WebSocketViolation?

    func read(_ bytes: [UInt8]) -> [Received] {
        var events: [WebSocketDecoder.Event] = []
        do throws(WebSocketViolation) {
            try bytes.withUnsafeBufferPointer { bytes throws(WebSocketViolation) in
                try decoder.decode(UnsafeRawBufferPointer(bytes), into: &events)
            }
        } catch {
            violation = error
        }
        return events.map { event in
            switch event {
            case .message(let message): .reply(.echo(message))
            case .pong(let payload): .reply(.pong(payload))
            case .ping: .ping
            case .close(let close): .close(close)
            }
        }
    }
}

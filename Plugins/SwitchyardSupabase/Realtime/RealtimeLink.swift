import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// An open connection to the service.
protocol RealtimeLink: Sendable {
    /// Sends messages one at a time, in the order of the calls.
    func send(_ message: RealtimeMessage) async throws(TransportError)
    /// - Returns: `nil` if the server has closed the connection.
    func next() async throws(TransportError) -> RealtimeLinkEvent?
    func close() async
}

enum RealtimeLinkEvent: Sendable {
    case message(RealtimeMessage)
    /// The server has forgotten the session and started a new one without joined channels.
    case renewed
}

/// The service's usual connection.
struct WebSocketLink: RealtimeLink {
    private let socket: any WebSocketConnection

    init(_ address: String, key: Secret, transport: any Transport) async throws(TransportError) {
        let address = "\(address)/websocket?apikey=\(PercentCoding.encode(key.reveal()))&vsn=2.0.0"
        socket = try await transport.webSocket(WebSocketRequest(address))
    }

    func send(_ message: RealtimeMessage) async throws(TransportError) {
        if message.bytes != nil {
            guard let frame = try? message.frame() else { return }
            try await socket.send(.binary(frame))
        } else {
            try await socket.send(.text(message.array.text()))
        }
    }

    func next() async throws(TransportError) -> RealtimeLinkEvent? {
        while let message = try await socket.receive() {
            // Skip unreadable messages, as the server does.
            switch message {
            case .text(let text): if let message = try? RealtimeMessage(text: text.utf8) { return .message(message) }
            case .binary(let bytes): if let message = try? RealtimeMessage(frame: bytes) { return .message(message) }
            }
        }
        return nil
    }

    func close() async { await socket.close(.normal) }
}

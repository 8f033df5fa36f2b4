/// Why a web socket ended without a closing handshake.
package enum WebSocketFailure: Error, Hashable, Sendable {
    /// The peer violated the protocol or a limit, and was notified.
    case violation(WebSocketViolation)
    /// Nothing arrived after a ping.
    case unanswered
    /// The connection ended without a close frame.
    case cutOff
    /// Our close frame was not answered in time.
    case closeUnanswered
}

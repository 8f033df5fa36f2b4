/// A peer's violation of the protocol or of the limits. Each one ends the connection.
package enum WebSocketViolation: Error, Hashable, Sendable, CaseIterable {
    case reservedBits
    case reservedOpcode
    case maskedByServer
    case unmaskedByClient
    case lengthNotMinimal
    case lengthOutOfRange
    case longControlFrame
    case fragmentedControlFrame
    case nothingToContinue
    case interruptedMessage
    case invalidText
    case invalidClosePayload
    case invalidCloseCode
    case invalidCloseReason
    case frameTooBig
    case messageTooBig

    /// The close frame that is sent to the peer.
    package var close: WebSocketClose {
        switch self {
        case .invalidText, .invalidCloseReason: .invalidPayload
        case .frameTooBig, .messageTooBig: .messageTooBig
        default: .protocolError
        }
    }
}

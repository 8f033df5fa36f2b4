/// What a peer did that the protocol forbids, or that is over our limits. Each ends the connection.
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

    /// What we tell the peer.
    package var close: WebSocketClose {
        switch self {
        case .invalidText, .invalidCloseReason: .invalidPayload
        case .frameTooBig, .messageTooBig: .messageTooBig
        default: .protocolError
        }
    }
}

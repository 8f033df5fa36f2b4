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

/// The limits for a peer's messages, and the size of outgoing frames.
package struct WebSocketLimits: Sendable, Hashable {
    /// A longer frame is refused once its header has been read, before memory is allocated for it.
    package var frameSize: Int
    /// The maximum total size of a message's frames.
    package var messageSize: Int
    /// Outgoing messages above this size are sent in frames of this size; `nil` sends each in one frame.
    package var fragmentSize: Int?

    package init(frameSize: Int = 16 << 20, messageSize: Int = 16 << 20, fragmentSize: Int? = nil) {
        self.frameSize = frameSize
        self.messageSize = messageSize
        self.fragmentSize = fragmentSize
    }
}

/// How a dead peer is detected.
package struct WebSocketKeepAlive: Sendable, Hashable {
    /// A ping is sent if nothing has arrived for this long; `nil` sends none.
    package var pingAfter: Duration?
    /// The connection counts as dead if nothing at all arrives for this long after a ping.
    package var answerWithin: Duration
    /// The deadline for the closing handshake, and then for the peer to end the connection.
    package var closeWithin: Duration

    package init(
        pingAfter: Duration? = .seconds(30), answerWithin: Duration = .seconds(20), closeWithin: Duration = .seconds(5)
    ) {
        self.pingAfter = pingAfter
        self.answerWithin = answerWithin
        self.closeWithin = closeWithin
    }
}

/// Our side of the connection. Clients mask what they send; servers must not.
package enum WebSocketRole: Sendable, Hashable { case client, server }

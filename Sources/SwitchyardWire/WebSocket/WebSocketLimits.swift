/// What a peer may send, and how outgoing messages are cut.
package struct WebSocketLimits: Sendable, Hashable {
    /// A longer frame is refused when its header has been read, before any memory is spent on it.
    package var frameSize: Int
    /// The sum over the frames of a message.
    package var messageSize: Int
    /// Outgoing messages above this size are sent in frames of this size; `nil` sends each in one frame.
    package var fragmentSize: Int?

    package init(frameSize: Int = 16 << 20, messageSize: Int = 16 << 20, fragmentSize: Int? = nil) {
        self.frameSize = frameSize
        self.messageSize = messageSize
        self.fragmentSize = fragmentSize
    }
}

/// How a dead peer is noticed.
package struct WebSocketKeepAlive: Sendable, Hashable {
    /// A ping goes out when nothing has arrived for this long; `nil` sends none.
    package var pingAfter: Duration?
    /// The connection counts as dead when nothing at all arrives for this long after a ping.
    package var answerWithin: Duration
    /// How long the closing handshake may take, and then the peer's end of the connection.
    package var closeWithin: Duration

    package init(
        pingAfter: Duration? = .seconds(30), answerWithin: Duration = .seconds(20), closeWithin: Duration = .seconds(5)
    ) {
        self.pingAfter = pingAfter
        self.answerWithin = answerWithin
        self.closeWithin = closeWithin
    }
}

/// Which end of the connection this is. Clients mask what they send; servers must not.
package enum WebSocketRole: Sendable, Hashable { case client, server }

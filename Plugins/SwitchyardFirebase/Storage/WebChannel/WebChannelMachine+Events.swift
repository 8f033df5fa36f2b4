import SwitchyardBytes

/// The input and output of a channel's machine.
extension WebChannelMachine {
    enum Event {
        /// A message for the server, as JSON text.
        case send([UInt8])
        case handshakeAnswered(status: Int, stickySession: String?, body: [UInt8])
        case handshakeFailed(String)
        case forwardAnswered(status: Int, body: [UInt8])
        case forwardFailed(String)
        /// A POST was not answered within the deadline.
        case forwardUnanswered
        case backChannelOpened(status: Int)
        case backChannelBytes([UInt8])
        /// The GET ended regularly.
        case backChannelEnded
        case backChannelFailed(String)
        case timer(Timer)
        case terminate
    }

    enum Action: Equatable {
        case handshake(query: [Parameter], body: [UInt8])
        case forward(query: [Parameter], body: [UInt8])
        case openBackChannel(query: [Parameter])
        case cancelBackChannel
        /// Best effort; nothing waits for it.
        case terminate(query: [Parameter])
        case deliver(JSON)
        case schedule(Timer, after: Duration)
        case cancel(Timer)
        /// The last action of a session.
        case close(WebChannelClose)
    }

    struct Parameter: Equatable {
        let name: String
        let value: String
        init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    enum Timer: Hashable {
        /// Nothing has arrived on the back channel for too long: it may have died silently.
        case silence
        /// The back channel is old enough that the server must know it.
        case settling
        /// The server has sent more than has arrived.
        case overdue
        case retryForward
        case retryBackChannel
    }
}
